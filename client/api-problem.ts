import type { components } from "./generated/full-api.ts";

type Problem = components["schemas"]["Problem"];

/** An error code, such as `report_not_found`. Compare codes, not texts, because only codes never change. */
export type ProblemCode = Problem["code"];

/** One issue in an invalid request: its location in the request, an explanation, and how to fix it. */
export type ProblemIssue = components["schemas"]["Issue"];

/** A limit of the API that a request exceeds, with its name, its maximum and the unit of the maximum. */
export type ProblemLimit = NonNullable<Problem["limit"]>;

/** Thrown when the API responds to a call with an error. */
export class ApiProblem extends Error {
  override name = "ApiProblem";
  /** The method, path and query of the call. */
  readonly call: string;
  readonly status: number;
  readonly code: ProblemCode;
  /** The URL of the documentation of the code, with the cause of the problem and how to fix it. */
  readonly type: string;
  /** A short summary of the problem. All problems with the same code have the same title. */
  readonly title: string;
  /** An explanation of why this call failed. */
  readonly detail: string;
  /** The issues in the request. Empty unless the request was invalid. */
  readonly issues: readonly ProblemIssue[];
  /** The limit that the call exceeds, or undefined if the problem has no limit. */
  readonly limit: ProblemLimit | undefined;
  /** The id of the request. Include it when you contact support. */
  readonly requestId: string;

  constructor(call: string, { type, status, code, title, detail, errors = [], limit, requestId }: Problem) {
    const issues = errors.slice(0, 3).map((issue) => `${issue.in} ${issue.path}: ${issue.message}`);
    const summary = detail === title ? title : `${title}. ${detail}`;
    super([`${call} responded ${status}: ${summary}`, ...issues, `(request ${requestId})`].join(" "));
    this.call = call;
    this.status = status;
    this.code = code;
    this.type = type;
    this.title = title;
    this.detail = detail;
    this.issues = errors;
    this.limit = limit;
    this.requestId = requestId;
  }
}

/** Returns the error that a call throws for this unsuccessful response. Reads the body, except for status 304. */
export async function createErrorFromResponse(call: string, response: Response): Promise<Error> {
  if (response.status === 304) return new NotModifiedError(call);
  const text = await response.text();
  const problem: unknown = await new Response(text).json().catch(() => undefined);
  return isProblem(problem) ? new ApiProblem(call, problem) : new UnexpectedResponseError(call, response.status, text);
}

/** Returns the result of a call, or null if the call fails with one of these error codes. Throws all other errors. */
export async function nullOnProblem<Result>(call: Promise<Result>, ...codes: ProblemCode[]): Promise<Result | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiProblem && codes.includes(error.code)) return null;
    throw error;
  }
}

function isProblem(value: unknown): value is Problem {
  if (typeof value !== "object" || value === null) return false;
  const { status, code, title, detail } = value as Partial<Problem>;
  return typeof status === "number" && [code, title, detail].every((text) => typeof text === "string");
}

/**
 * Thrown when an unsuccessful response does not come from the API. Possible causes are a proxy that responded instead,
 * and a wrong base URL.
 */
export class UnexpectedResponseError extends Error {
  override name = "UnexpectedResponseError";
  readonly status: number;

  /** `call` is the method, path and query. */
  constructor(call: string, status: number, body: string) {
    super(`${call} responded ${status} with a body that is not from the API: ${body.slice(0, 200) || "(empty)"}`);
    this.status = status;
  }
}

/** Thrown when the resource still has the ETag in the `If-None-Match` of a call, so that the response has no body. */
export class NotModifiedError extends Error {
  override name = "NotModifiedError";

  /** `call` is the method, path and query. */
  constructor(call: string) {
    super(`${call} responded 304: not modified`);
  }
}

/** Thrown when no response arrives, even after all retries. `cause` is the last error that `fetch` threw. */
export class NoResponse extends Error {
  override name = "NoResponse";

  /** `call` is the method, path and query. */
  constructor(call: string, cause: unknown) {
    super(`${call} got no response`, { cause });
  }
}
