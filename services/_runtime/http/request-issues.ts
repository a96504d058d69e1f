import { ApiError, maxReportedIssues, type RequestIssue } from "@pragma/contracts/errors";
import { boundedArray, clientGeneratedIdToUuid, uniqueItemsCheck } from "@pragma/contracts/fields";
import { z } from "zod";
import { type BodyPartLimits, checkBodyPartLimits } from "../json/json-limits.ts";

/** What is wrong with a body. */
export interface BodyIssues {
  /** The first faults. */
  issues: RequestIssue[];
  /** How many there are in all. */
  count: number;
}

/**
 * The faults that a schema found in one part of a request, in this API's words: as many as a reply lists. `place` is
 * where in that part its input stands.
 */
export function toRequestIssues(
  part: RequestIssue["in"],
  error: z.ZodError,
  input: unknown,
  basePath = "",
): RequestIssue[] {
  return error.issues.slice(0, maxReportedIssues).map((issue) => {
    const value = getValueAtPath(input, issue.path);
    const path = formatIssuePath(issue.path, basePath);
    if (value === undefined && issue.code !== "custom") {
      return { in: part, path, code: "required", message: `is required (${issue.message})` };
    }
    return {
      in: part,
      path,
      code: getIssueCode(issue),
      message: `${issue.message}${describeReceivedValue(value, issue.path)}`,
    };
  });
}

/** Gathers the faults of a request that is checked part by part: keeps those that a reply lists, and counts all. */
export class IssueCollector implements BodyIssues {
  readonly issues: RequestIssue[] = [];
  count = 0;

  /** What a schema found in what stands at `path` of a part of the request. */
  addZodError(error: z.ZodError | undefined, input: unknown, path = "", part: RequestIssue["in"] = "body"): void {
    if (error) this.addIssues({ issues: toRequestIssues(part, error, input, path), count: error.issues.length });
  }

  /** What a schema makes of a part of the body that is no larger than it may be; undefined when it has faults. */
  parsePart<Schema extends z.ZodType>(
    schema: Schema,
    value: unknown,
    { path, limits }: { path: string; limits: BodyPartLimits },
  ): z.output<Schema> | undefined {
    const excess = checkBodyPartLimits(value, limits);
    if (excess) {
      this.addIssue({ path, ...excess });
      return undefined;
    }
    const { data, error } = schema.safeParse(value);
    this.addZodError(error, value, path);
    return data;
  }

  addIssues({ issues, count }: BodyIssues): void {
    this.issues.push(...issues.slice(0, maxReportedIssues - this.issues.length));
    this.count += count;
  }

  addIssue(issue: Omit<RequestIssue, "in">): void {
    this.addIssues({ issues: [{ in: "body", ...issue }], count: 1 });
  }

  /** Whether there are so many that no reply tells one more from one less. */
  get hasTooManyIssues(): boolean {
    return this.count > maxCountedIssues;
  }
}

/** The list of orders with nothing of them but their ids, as they will be known: each once, and not too many. */
export function orderIdListSchema<Field extends string>(idField: Field, max: number, size?: { min: number }) {
  const readOrderId = (order: unknown) => {
    const id = getValueAtPath(order, [idField]);
    return typeof id === "string" ? clientGeneratedIdToUuid(id) : undefined;
  };
  const ids = z
    .unknown()
    .transform((order) => ({ [idField]: readOrderId(order) }) as Record<Field, string | undefined>);
  return boundedArray(ids, max, size).check(uniqueItemsCheck("order", idField));
}

/** A check of our own names its kind of fault in `params.code`. */
function getIssueCode(issue: z.core.$ZodIssue): string {
  const named: unknown = issue.code === "custom" ? issue.params?.code : undefined;
  return typeof named === "string" ? named : issue.code;
}

/** `["orderList", 3, "guestsCount"]` as `orderList[3].guestsCount`, after the place that it starts from. */
function formatIssuePath(path: readonly PropertyKey[], basePath: string): string {
  let text = basePath;
  for (const key of path) text += typeof key === "number" ? `[${key}]` : `${text && "."}${String(key)}`;
  return text;
}

/** Up to here faults are counted; beyond, a reply says that there are more. */
const maxCountedIssues = 10_000;

/** @throws `ApiError` invalid_request if there is any fault. */
export function throwIfInvalid(issues: RequestIssue[], count = issues.length): void {
  if (count > 0) throw createInvalidRequestError(issues, count);
}

/** The refusal of a request: it lists the first hundred faults and says how many there are. */
export function createInvalidRequestError(issues: RequestIssue[], count = issues.length): ApiError {
  const shown = issues.slice(0, maxReportedIssues);
  const countText = count > maxCountedIssues ? `more than ${maxCountedIssues}` : String(count);
  const more = count > shown.length ? `, of which the first ${shown.length} are listed` : "";
  return new ApiError("invalid_request", {
    detail: `The request has ${countText} ${count === 1 ? "fault" : "faults"}${more}: see errors.`,
    issues: shown,
  });
}

/** Returns what stands at a path in a value; undefined where nothing does. */
export function getValueAtPath(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** Says what was sent where that helps to find it: short plain values, and never what may be a secret. */
function describeReceivedValue(value: unknown, path: readonly PropertyKey[]): string {
  if (/secret|key|token|password/i.test(String(path.at(-1)))) return "";
  if (typeof value === "number" || typeof value === "boolean" || value === null) return `; got ${value}`;
  if (typeof value === "string" && value.length <= 60) return `; got ${JSON.stringify(value)}`;
  return "";
}
