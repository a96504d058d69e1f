import type { components } from "./generated/full-api.ts";

type Problem = components["schemas"]["Problem"];

/** A stable name of what went wrong, such as `report_not_found`: decide by it, not by texts. */
export type ProblemCode = Problem["code"];

/** One fault of a request: where it is, what it is, and how to mend it. */
export type ProblemIssue = components["schemas"]["Fault"];

/** The API refused a call, or could not answer it, and said why. */
export class ApiProblem extends Error {
  override name = "ApiProblem";
  /** Method and address of the call. */
  readonly call: string;
  readonly status: number;
  readonly code: ProblemCode;
  /** The same for every problem with this code. */
  readonly title: string;
  /** What happened this time. */
  readonly detail: string;
  /** Everything that is wrong with the request, as far as the API tells; empty for most codes. */
  readonly issues: readonly ProblemIssue[];
  /** Names the request when you ask for help. */
  readonly requestId: string;

  constructor(call: string, { status, code, title, detail, errors = [], requestId }: Problem) {
    const reasons = errors.slice(0, 3).map((fault) => `${fault.in} ${fault.path}: ${fault.message}`);
    const said = detail === title ? title : `${title}. ${detail}`;
    super([`${call} answered ${status}: ${said}`, ...reasons, `(request ${requestId})`].join(" "));
    this.call = call;
    this.status = status;
    this.code = code;
    this.title = title;
    this.detail = detail;
    this.issues = errors;
    this.requestId = requestId;
  }
}

/** The error that a reply without success stands for. Reads its body. */
export async function errorFromResponse(call: string, response: Response): Promise<Error> {
  if (response.status === 304) return new NotModified(call);
  const text = await response.text();
  const problem = parseJson(text);
  return isProblem(problem) ? new ApiProblem(call, problem) : new UnexpectedResponse(call, response.status, text);
}

/** What a call gives, or null when it fails with a problem of one of these codes; others are thrown. */
export async function nullOnProblem<Result>(call: Promise<Result>, ...codes: ProblemCode[]): Promise<Result | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiProblem && codes.includes(error.code)) return null;
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isProblem(value: unknown): value is Problem {
  if (typeof value !== "object" || value === null) return false;
  const { status, code, title, detail } = value as Partial<Problem>;
  return typeof status === "number" && [code, title, detail].every((text) => typeof text === "string");
}

/** Something between answered in the place of the API, or the address is not the API's. */
export class UnexpectedResponse extends Error {
  override name = "UnexpectedReply";
  readonly status: number;

  /** `call` is its method and address. */
  constructor(call: string, status: number, body: string) {
    super(`${call} answered ${status} with something that is not the API's: ${body.slice(0, 200) || "nothing"}`);
    this.status = status;
  }
}

/** What the call's `If-None-Match` names is still current: there is nothing new to read. */
export class NotModified extends Error {
  override name = "NotModified";

  /** `call` is its method and address. */
  constructor(call: string) {
    super(`${call} answered 304: it is as it was`);
  }
}

/** Nobody answered, also not when it was tried again. The cause is what `fetch` threw last. */
export class NoResponse extends Error {
  override name = "NoReply";

  /** `call` is its method and address. */
  constructor(call: string, cause: unknown) {
    super(`${call} got no reply`, { cause });
  }
}
