import { defaultDocsUrl } from "./published-urls.ts";

/**
 * Every error that a client can receive, by its code.
 *
 * An error response is RFC 9457 problem details (`application/problem+json`). Its `code` is a key of this object and never
 * changes after publication. `title` is the same for every occurrence, and `detail` explains the specific occurrence.
 */
export const apiErrorDefinitions = {
  invalid_request: { status: 400, title: "The request is invalid" },
  malformed_json: { status: 400, title: "The request body is not valid JSON" },
  malformed_body: { status: 400, title: "The request body cannot be read" },
  invalid_page_token: { status: 400, title: "The page token is invalid" },
  invalid_cursor: { status: 400, title: "The cursor is invalid" },
  key_missing: { status: 401, title: "The API key is missing" },
  key_invalid: { status: 401, title: "The API key is invalid" },
  key_revoked: { status: 401, title: "The API key has been revoked" },
  key_expired: { status: 401, title: "The API key has expired" },
  scope_missing: { status: 403, title: "The API key does not have the required scope" },
  location_forbidden: { status: 403, title: "The API key cannot be used for this location" },
  rate_limit_forbidden: { status: 403, title: "The consumer's rate limit exceeds the API key's rate limit" },
  origin_forbidden: { status: 403, title: "Web pages of this origin cannot use this operation" },
  sandboxes_off: { status: 403, title: "Sandboxes are not available in this installation" },
  route_not_found: { status: 404, title: "Route not found" },
  location_not_found: { status: 404, title: "Location not found" },
  consumer_not_found: { status: 404, title: "Consumer not found" },
  key_not_found: { status: 404, title: "API key not found" },
  till_not_found: { status: 404, title: "Till not found" },
  reprocessing_not_found: { status: 404, title: "Reprocessing job not found" },
  report_not_found: { status: 404, title: "Report not found" },
  day_not_found: { status: 404, title: "Day not found" },
  job_not_found: { status: 404, title: "Job not found" },
  recipient_not_found: { status: 404, title: "Recipient not found" },
  webhook_not_found: { status: 404, title: "Webhook not found" },
  delivery_not_found: { status: 404, title: "Delivery not found" },
  recovery_not_found: { status: 404, title: "Recovery not found" },
  accounting_config_not_found: { status: 404, title: "Accounting config not found" },
  accounting_export_not_found: { status: 404, title: "Accounting export not found" },
  accounting_file_not_found: { status: 404, title: "Accounting file not found" },
  export_not_found: { status: 404, title: "Export not found" },
  export_file_not_found: { status: 404, title: "Export file not found" },
  order_not_found: { status: 404, title: "Order not found" },
  declarant_not_found: { status: 404, title: "The business was not found" },
  e_report_not_found: { status: 404, title: "No period of e-reports begins on this day" },
  transmission_not_found: { status: 404, title: "The transmission was not found" },
  sandbox_not_found: { status: 404, title: "The API key does not belong to a sandbox" },
  method_not_allowed: { status: 405, title: "The method is not allowed for this path" },
  request_timeout: { status: 408, title: "The request body arrived too slowly", retryAfterSeconds: 1 },
  consumer_exists: { status: 409, title: "A consumer with this name already exists" },
  location_exists: { status: 409, title: "A location with this application and legacyId already exists" },
  till_conflict: { status: 409, title: "A till with this ID but different content already exists" },
  key_inactive: { status: 409, title: "The API key has been revoked or has expired" },
  recipient_conflict: { status: 409, title: "The recipient ID is already in use" },
  recipient_in_use: { status: 409, title: "The recipient still has webhooks" },
  limit_reached: { status: 409, title: "A limit has been reached" },
  too_many_secrets: { status: 409, title: "The recipient has too many active secrets" },
  webhook_conflict: { status: 409, title: "The webhook ID is already in use" },
  delivery_under_way: { status: 409, title: "A delivery attempt is in progress", retryAfterSeconds: 5 },
  e_report_open: { status: 409, title: "Days of the period are not closed" },
  e_report_unchanged: { status: 409, title: "There is nothing new to report" },
  e_report_check_failed: { status: 409, title: "The report does not comply with the rules of the administration" },
  idempotency_key_in_use: {
    status: 409,
    title: "The first request with this Idempotency-Key is still being processed",
    retryAfterSeconds: 1,
  },
  precondition_failed: { status: 412, title: "If-Match does not match the current version" },
  body_too_large: { status: 413, title: "The request body is too large" },
  unsupported_media_type: { status: 415, title: "The content type is not supported" },
  unsupported_encoding: { status: 415, title: "The content encoding is not supported" },
  range_not_satisfiable: { status: 416, title: "The requested range is outside the file" },
  idempotency_key_reused: { status: 422, title: "The Idempotency-Key was already used for a different request" },
  amounts_too_large: { status: 422, title: "A sum is too large" },
  too_many_rows: { status: 422, title: "The query has too many rows" },
  query_too_slow: { status: 422, title: "The query takes too long" },
  too_many_waiting_requests: { status: 429, title: "Too many requests are waiting for changes", retryAfterSeconds: 5 },
  too_many_streams: { status: 429, title: "The location has too many open streams" },
  too_many_jobs: { status: 429, title: "Too many unfinished jobs" },
  too_many_sandboxes: { status: 429, title: "There are too many sandboxes" },
  rate_limited: { status: 429, title: "Too many requests" },
  quota_exceeded: { status: 429, title: "The location has used up its daily quota" },
  headers_too_large: { status: 431, title: "The request headers are too large or too numerous" },
  internal_error: { status: 500, title: "An internal error occurred" },
  unsupported_transfer_encoding: { status: 501, title: "The transfer encoding is not supported" },
  legacy_unavailable: { status: 502, title: "The request to the legacy backoffice failed" },
  legacy_not_configured: { status: 503, title: "No legacy backoffice is configured for this application" },
  service_unavailable: { status: 503, title: "The service is temporarily unavailable", retryAfterSeconds: 2 },
  overloaded: { status: 503, title: "The service is overloaded", retryAfterSeconds: 2 },
  upstream_timeout: { status: 504, title: "The service did not respond in time" },
} as const satisfies Record<string, ApiErrorDefinition>;

interface ApiErrorDefinition {
  status: number;
  title: string;
  /** Seconds to wait before a retry. An `ApiError` can override the value with its own `retry-after` header. */
  retryAfterSeconds?: number;
}

export type ApiErrorCode = keyof typeof apiErrorDefinitions;

/** The documentation page of all errors. The `type` of a problem is this URL, followed by `#` and the error code. */
export const apiErrorsDocumentationPageUrl = "https://docs.pragma.example/docs/errors";

/** The types of issues in invalid requests. A type never changes after publication. The documentation lists all types. */
export const requestIssueCodes = [
  "required",
  "invalid_type",
  "invalid_value",
  "invalid_format",
  "invalid_union",
  "too_small",
  "too_big",
  "too_deep",
  "duplicate",
  "mismatch",
  "conflict",
  "not_found",
  "unknown_parameter",
  "repeated_parameter",
  "unknown_reference",
  "unknown_recipient",
  "unknown_till",
  "unknown_config",
  "invalid_url",
  "https_required",
  "userinfo",
  "fragment",
  "forbidden_port",
  "forbidden_address",
  "custom",
] as const;

export type RequestIssueCode = (typeof requestIssueCodes)[number];

/** An issue in a request: its location, its type, and how to fix it. */
export interface RequestIssue {
  in: "body" | "query" | "path" | "header";
  /** The path within `in`, such as `orderList[3].guestsCount`. Empty if the issue affects the whole part. */
  path: string;
  code: RequestIssueCode;
  message: string;
}

/** What separates the message of an issue from the received value, which follows it. */
const receivedValueSeparator = "; got ";

/** Returns the message of an issue with the received value, as JSON or as a count. */
export const appendReceivedValue = (message: string, value: string | number): string =>
  `${message}${receivedValueSeparator}${value}`;

/** Returns the message of an issue without the received value, which can be personal data. */
export const withoutReceivedValue = (message: string): string => message.split(receivedValueSeparator, 1)[0] ?? "";

/** A configured limit that a request would exceed. */
export interface ExceededLimit {
  /** The name of the limit in the documentation, such as `webhooks`. */
  name: string;
  maximum: number;
  /** The unit of `maximum`, such as `bytes per day`. */
  unit: string;
}

/** The maximum number of issues that one error response lists. */
export const maxReportedIssues = 100;

export interface ApiErrorOptions {
  /** An explanation of this occurrence, which the client receives. */
  detail?: string;
  issues?: RequestIssue[];
  limit?: ExceededLimit;
  headers?: Record<string, string>;
  cause?: unknown;
}

/** An error that the client receives as problem details. All code that a route handler calls can throw it. */
export class ApiError extends Error {
  readonly code: ApiErrorCode;
  readonly issues: RequestIssue[] | undefined;
  readonly limit: ExceededLimit | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ApiErrorCode, { detail, issues, limit, headers = {}, cause }: ApiErrorOptions = {}) {
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

/**
 * Returns the problem details of an error, as in `problemSchema`. `requestId` is the id of the failed request. `docsUrl` is the URL of the
 * installation's documentation, where `type` leads.
 */
export function toProblemDetails(error: ApiError, requestId: string, docsUrl = defaultDocsUrl) {
  const { status, title } = apiErrorDefinitions[error.code];
  return {
    type: `${apiErrorsDocumentationPageUrl.replace(defaultDocsUrl, docsUrl)}#${error.code}`,
    title,
    status,
    detail: error.message,
    code: error.code,
    requestId,
    ...(error.limit && { limit: error.limit }),
    ...(error.issues && { errors: error.issues }),
  };
}
