import { ApiError, toProblemDetails } from "@pragma/contracts/errors";
import type { Logger } from "../observability/logger.ts";
import { isRemovedLocationError, isTransient } from "../retries/transient-error.ts";
import type { RouteHandlerResponse } from "./route-response.ts";

interface ErrorResponseOptions {
  requestId: string;
  log: Logger;
  docsUrl: string;
  /** The fields of the request's log line. `createLoggedErrorResponse` adds the error code and the number of issues. */
  logFields?: Record<string, unknown>;
}

/**
 * Returns an error as problem details. Logs server errors, because clients never see their cause, except `overloaded`,
 * which appears only in the line of the request, like a rate limit.
 */
export function createLoggedErrorResponse(
  error: unknown,
  { requestId, log, docsUrl, logFields = {} }: ErrorResponseOptions,
): RouteHandlerResponse {
  const apiError = toApiError(error);
  if (apiError.status >= 500 && apiError.code !== "overloaded")
    log.error({ err: error, requestId, code: apiError.code }, "request failed");
  Object.assign(logFields, { code: apiError.code, ...(apiError.issues && { issues: apiError.issues.length }) });
  return {
    status: apiError.status,
    body: JSON.stringify(toProblemDetails(apiError, requestId, docsUrl)),
    headers: { "content-type": "application/problem+json", "cache-control": "no-store", ...apiError.headers },
  };
}

/** Converts any thrown value to an error of the error catalog. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isRemovedLocationError(error)) {
    return new ApiError("location_not_found", { detail: "The location was removed.", cause: error });
  }
  if (isTransient(error)) {
    return new ApiError("service_unavailable", {
      detail: "A dependency is unavailable. Retry shortly. If you retry a POST, send the same Idempotency-Key.",
      cause: error,
    });
  }
  return new ApiError("internal_error", {
    detail: "The error was logged. Quote the requestId when you contact support.",
    cause: error,
  });
}
