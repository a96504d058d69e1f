import { z } from "zod";

/**
 * The error catalogue: every error that a caller can cause or meet, declared once.
 *
 * A reply to an error is RFC 9457 problem details (`application/problem+json`). Its `code` is a key of this
 * catalogue and never changes once published; `title` is the same for every occurrence, `detail` tells of this one.
 */
export const apiErrorDefinitions = {
  invalid_request: { status: 400, title: "The request has faults" },
  malformed_json: { status: 400, title: "The body is not valid JSON" },
  malformed_body: { status: 400, title: "The body cannot be read" },
  invalid_page_token: { status: 400, title: "The page token is not one that this list gave" },
  key_missing: { status: 401, title: "An API key is needed" },
  key_invalid: { status: 401, title: "The API key is not known" },
  key_revoked: { status: 401, title: "The API key has been revoked" },
  scope_missing: { status: 403, title: "The API key lacks the scope of this operation" },
  location_forbidden: { status: 403, title: "The API key belongs to another location" },
  rate_limit_forbidden: { status: 403, title: "The rate limit is higher than the API key's own" },
  route_not_found: { status: 404, title: "There is nothing at this address" },
  location_not_found: { status: 404, title: "There is no such location" },
  consumer_not_found: { status: 404, title: "There is no such consumer" },
  key_not_found: { status: 404, title: "There is no such API key" },
  till_not_found: { status: 404, title: "There is no such till" },
  reprocessing_not_found: { status: 404, title: "There is no such reprocessing" },
  report_not_found: { status: 404, title: "There is no such report" },
  job_not_found: { status: 404, title: "There is no such job" },
  recipient_not_found: { status: 404, title: "There is no such recipient" },
  webhook_not_found: { status: 404, title: "There is no such webhook" },
  delivery_not_found: { status: 404, title: "There is no such delivery" },
  recovery_not_found: { status: 404, title: "There is no such recovery" },
  accounting_config_not_found: { status: 404, title: "There is no such accounting config" },
  accounting_export_not_found: { status: 404, title: "There is no such accounting export" },
  accounting_file_not_found: { status: 404, title: "The accounting export has no such file" },
  order_not_found: { status: 404, title: "There is no such order" },
  method_not_allowed: { status: 405, title: "The method is not allowed at this address" },
  request_timeout: { status: 408, title: "The body came too slowly", retryAfterSeconds: 1 },
  consumer_exists: { status: 409, title: "A consumer of this name exists already" },
  location_exists: { status: 409, title: "A location with this application and legacyId exists already" },
  till_conflict: { status: 409, title: "The till id is taken by other content" },
  recipient_conflict: { status: 409, title: "The recipient id is taken" },
  recipient_in_use: { status: 409, title: "The recipient still has webhooks" },
  limit_reached: { status: 409, title: "The location has as many of these as it may have" },
  too_many_secrets: { status: 409, title: "Too many of the recipient's secrets are current" },
  webhook_conflict: { status: 409, title: "The webhook id is taken" },
  delivery_under_way: { status: 409, title: "An attempt of the delivery is under way" },
  idempotency_key_in_use: {
    status: 409,
    title: "The first request with this Idempotency-Key is being answered",
    retryAfterSeconds: 1,
  },
  precondition_failed: { status: 412, title: "What If-Match names is not the current state" },
  body_too_large: { status: 413, title: "The body is too large" },
  unsupported_media_type: { status: 415, title: "The content type is not supported" },
  unsupported_encoding: { status: 415, title: "The content encoding is not supported" },
  idempotency_key_reused: { status: 422, title: "The Idempotency-Key came with another request before" },
  too_many_streams: { status: 429, title: "The location has too many open streams" },
  too_many_jobs: { status: 429, title: "Too many jobs have not finished" },
  rate_limited: { status: 429, title: "Too many requests" },
  quota_exceeded: { status: 429, title: "The location's quota for today is used up" },
  headers_too_large: { status: 431, title: "The request has too many headers, or too large ones" },
  internal_error: { status: 500, title: "Something went wrong on our side" },
  unsupported_transfer_encoding: { status: 501, title: "The transfer encoding is not supported" },
  legacy_unavailable: { status: 502, title: "The legacy backoffice did not give what it was asked for" },
  legacy_not_configured: { status: 503, title: "No legacy backoffice is configured for this application" },
  service_unavailable: { status: 503, title: "The service is not available for a moment", retryAfterSeconds: 2 },
  overloaded: { status: 503, title: "Too much is being received at once", retryAfterSeconds: 2 },
  upstream_timeout: { status: 504, title: "The service did not answer in time" },
} as const satisfies Record<string, ApiErrorDefinition>;

interface ApiErrorDefinition {
  status: number;
  title: string;
  /** Seconds after which trying again helps, unless an occurrence says more. */
  retryAfterSeconds?: number;
}

/** A stable error name, as sent in the `code` of a problem. */
export type ErrorCode = keyof typeof apiErrorDefinitions;

/** Where the documentation explains each error; a problem's `type` is this plus `#code`. */
export const errorDocumentationUrl = "https://docs.pragma.example/docs/requests";

/** One fault of a request: where it is, what it is, and how to mend it. */
export interface RequestIssue {
  in: "body" | "query" | "path" | "header";
  /** Where in that part, e.g. `orderList[3].guestsCount`; empty for the part as a whole. */
  path: string;
  /** A stable name of the kind of fault, e.g. `required`, `invalid_type`, `too_small`. */
  code: string;
  message: string;
}

/** A configured limit that a request would exceed, as its refusal names it. */
export interface ExceededLimit {
  /** The name of the limit in the documentation's table, e.g. `webhooks`. */
  name: string;
  maximum: number;
  /** What is counted, e.g. `bytes per day`. */
  unit: string;
}

/** How many faults of one request are reported at most. */
export const maxReportedIssues = 100;

export interface ApiErrorOptions {
  /** What happened this time, for the caller's eyes. */
  detail?: string;
  issues?: RequestIssue[];
  limit?: ExceededLimit;
  headers?: Record<string, string>;
  cause?: unknown;
}

/** An error of the catalogue. Throw it anywhere below a route; the caller gets its problem details. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly issues: RequestIssue[] | undefined;
  readonly limit: ExceededLimit | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, { detail, issues, limit, headers = {}, cause }: ApiErrorOptions = {}) {
    const { title, retryAfterSeconds }: ApiErrorDefinition = apiErrorDefinitions[code];
    super(detail ?? title, cause === undefined ? undefined : { cause });
    this.name = "ApiError";
    this.code = code;
    this.issues = issues;
    this.limit = limit;
    this.headers = { ...(retryAfterSeconds && { "retry-after": String(retryAfterSeconds) }), ...headers };
  }

  get status(): number {
    return apiErrorDefinitions[this.code].status;
  }
}

const requestIssueSchema = z
  .object({
    in: z.enum(["body", "query", "path", "header"]).meta({ description: "The part of the request that it is in" }),
    path: z.string().meta({ description: "Where in that part; empty for the part as a whole" }),
    code: z.string().meta({ description: "A stable name of the kind of fault" }),
    message: z.string().meta({ description: "What is wrong and how to mend it" }),
  })
  .meta({
    id: "Fault",
    description: "Something that is wrong with a request: where, and how to mend it",
    example: { in: "query", path: "size", code: "too_big", message: "Too big: expected number to be <=100" },
  });

/** RFC 9457 problem details, as every error is answered. */
export const problemSchema = z
  .object({
    type: z.url().meta({ description: "A page that explains the error" }),
    title: z.string().meta({ description: "The same for every problem with this code" }),
    status: z.int().meta({ description: "The status of the reply" }),
    detail: z.string().meta({ description: "What happened this time" }),
    code: z
      .enum(Object.keys(apiErrorDefinitions) as [ErrorCode, ...ErrorCode[]])
      .meta({ description: "A stable name of the problem, to decide by" }),
    requestId: z.string().meta({ description: "Name it when you ask for help" }),
    limit: z
      .object({
        name: z.string().meta({ description: "The name of the limit in the documentation" }),
        maximum: z.number().meta({ description: "How large the limit is" }),
        unit: z.string().meta({ description: "What is counted" }),
      })
      .optional()
      .meta({ description: "The limit that the request would exceed" }),
    errors: z.array(requestIssueSchema).optional().meta({ description: "Every fault of the request, at most 100" }),
  })
  .meta({
    id: "Problem",
    description: "An error, as RFC 9457 problem details.",
    example: {
      type: `${errorDocumentationUrl}#invalid_request`,
      title: apiErrorDefinitions.invalid_request.title,
      status: 400,
      detail: "1 fault: see errors.",
      code: "invalid_request",
      requestId: "0190a5f2-7c1e-7cc0-8e2b-5f3f5a3f9c11",
      errors: [{ in: "query", path: "size", code: "too_big", message: "Too big: expected number to be <=100" }],
    },
  });

export type Problem = z.infer<typeof problemSchema>;

/** The problem details of an error, for the request with this id. */
export function toProblemDetails(error: ApiError, requestId: string): Problem {
  const { status, title } = apiErrorDefinitions[error.code];
  return {
    type: `${errorDocumentationUrl}#${error.code}`,
    title,
    status,
    detail: error.message,
    code: error.code,
    requestId,
    ...(error.limit && { limit: error.limit }),
    ...(error.issues && { errors: error.issues }),
  };
}
