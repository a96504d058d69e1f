import { ApiError, toProblemDetails } from "@pragma/contracts/errors";
import type { Logger } from "../observability/logger.ts";
import { isTransient } from "../retries/transient-error.ts";
import type { RouteResponse } from "./route-response.ts";

interface ErrorResponseOptions {
  requestId: string;
  log: Logger;
  /** Where the error is noted for the log line of the request. */
  logFields?: Record<string, unknown>;
}

/** The problem details of whatever a route threw. What is no error of the catalogue is logged, and told to nobody. */
export function createErrorResponse(
  error: unknown,
  { requestId, log, logFields = {} }: ErrorResponseOptions,
): RouteResponse {
  const apiError = toApiError(error);
  if (apiError.status >= 500) log.error({ err: error, requestId, code: apiError.code }, "request failed");
  Object.assign(logFields, { code: apiError.code, ...(apiError.issues && { faults: apiError.issues.length }) });
  return {
    status: apiError.status,
    body: JSON.stringify(toProblemDetails(apiError, requestId)),
    headers: { "content-type": "application/problem+json", "cache-control": "no-store", ...apiError.headers },
  };
}

/** Returns the error of the catalogue that stands for whatever was thrown. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isTransient(error)) {
    return new ApiError("service_unavailable", {
      detail: "Something that this service needs is away. Try again in a moment, a POST with the same Idempotency-Key.",
      cause: error,
    });
  }
  return new ApiError("internal_error", {
    detail: "This was logged. Name the requestId when you ask about it.",
    cause: error,
  });
}
