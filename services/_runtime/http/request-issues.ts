import {
  ApiError,
  appendReceivedValue,
  maxReportedIssues,
  type RequestIssue,
  type RequestIssueCode,
  requestIssueCodes,
} from "@pragma/contracts/errors";
import { boundedArray, createUniqueIdsCheck, normalizeClientGeneratedUuid } from "@pragma/contracts/fields";
import { z } from "zod";
import type { RequestBodyIssues } from "../json/body-issues.ts";
import { findJsonPartLimitIssue, type JsonItemAndDepthLimits } from "../json/json-limits.ts";

/** Leaves out issues about the range of safe integers that a narrower limit of the same value follows. */
function listDistinctIssues({ issues }: z.ZodError): z.core.$ZodIssue[] {
  return issues.filter((issue, index) => {
    const next = issues[index + 1];
    const isSafeRange = (issue.code === "too_big" || issue.code === "too_small") && issue.origin === "int";
    return !(isSafeRange && next?.code === issue.code && hasSamePath(issue, next));
  });
}

const hasSamePath = ({ path }: z.core.$ZodIssue, other: z.core.$ZodIssue) =>
  path.length === other.path.length && path.every((key, index) => key === other.path[index]);

function toRequestIssue(
  part: RequestIssue["in"],
  issue: z.core.$ZodIssue,
  input: unknown,
  basePath: string,
): RequestIssue {
  const value = getValueAtPath(input, issue.path);
  const path = formatIssuePath(issue.path, basePath);
  if (value === undefined && issue.code !== "custom")
    return { in: part, path, code: "required", message: "Is required" };
  const received = getReceivedPart(issue) ?? describeReceivedValue(value, issue.path);
  const description = describeIssue(issue, value);
  const message = received === undefined ? description : appendReceivedValue(description, received);
  return { in: part, path, code: getIssueCode(issue), message };
}

/** Returns what a custom check received, if it is about only a part of the value. See `addIssue`. */
function getReceivedPart(issue: z.core.$ZodIssue): string | number | undefined {
  return issue.code === "custom" ? issue.params?.received : undefined;
}

/** Collects the issues of a request that is validated in parts. Stores only the first issues, but counts all issues. */
export class IssueCollector implements RequestBodyIssues {
  readonly issues: RequestIssue[] = [];
  count = 0;

  /** Adds the issues that a schema found in `input`. `path` is the path of `input` in that part of the request. */
  addZodError(error: z.ZodError | undefined, input: unknown, path = "", part: RequestIssue["in"] = "body"): void {
    if (!error) return;
    const found = listDistinctIssues(error);
    const reported = found.slice(0, maxReportedIssues).map((issue) => toRequestIssue(part, issue, input, path));
    this.addIssues(reported, found.length);
  }

  /** Parses the part of the body at `path`. If it is invalid or exceeds `limits`, adds issues and returns undefined. */
  parsePart<Schema extends z.ZodType>(
    schema: Schema,
    value: unknown,
    { path, limits }: { path: string; limits: JsonItemAndDepthLimits },
  ): z.output<Schema> | undefined {
    const excess = findJsonPartLimitIssue(value, limits);
    if (excess) {
      this.addIssue({ path, ...excess });
      return undefined;
    }
    const { data, error } = schema.safeParse(value);
    this.addZodError(error, value, path);
    return data;
  }

  addIssues(issues: readonly RequestIssue[], count = issues.length): void {
    this.issues.push(...issues.slice(0, maxReportedIssues - this.issues.length));
    this.count += count;
  }

  addIssue(issue: Omit<RequestIssue, "in">): void {
    this.addIssues([{ in: "body", ...issue }]);
  }

  /** Whether there are more issues than a response counts exactly. Validation can then stop, to save CPU time. */
  get hasTooManyIssues(): boolean {
    return this.count > maxCountedIssues;
  }
}

/** Returns a schema for up to `max` orders with unique ids. Keeps only the normalized ids; undefined if not strings. */
export function createOrderIdsOnlySchema<Field extends string>(idField: Field, max: number, size?: { min: number }) {
  const readOrderId = (order: unknown) => {
    const id = getValueAtPath(order, [idField]);
    return typeof id === "string" ? normalizeClientGeneratedUuid(id) : undefined;
  };
  const ids = z
    .unknown()
    .transform((order) => ({ [idField]: readOrderId(order) }) as Record<Field, string | undefined>);
  return boundedArray(ids, max, size).check(createUniqueIdsCheck("order", idField));
}

/** Returns the code of an issue. Custom checks provide the code in `params.code`. An undocumented code becomes `custom`. */
function getIssueCode(issue: z.core.$ZodIssue): RequestIssueCode {
  const named: unknown = (issue.code === "custom" && issue.params?.code) || issue.code;
  return requestIssueCodes.find((code) => code === named) ?? "custom";
}

/** Returns a path such as `["orderList", 3, "guestsCount"]` as text, `orderList[3].guestsCount`, after `basePath`. */
function formatIssuePath(path: readonly PropertyKey[], basePath: string): string {
  let text = basePath;
  for (const key of path) text += typeof key === "number" ? `[${key}]` : `${text && "."}${String(key)}`;
  return text;
}

/** The maximum number of issues that a response reports exactly. Above it, the response says "more than 10000". */
const maxCountedIssues = 10_000;

/** @throws `ApiError` invalid_request if a request has issues. */
export function throwIfInvalid(issues: RequestIssue[], count = issues.length): void {
  if (count > 0) throw createInvalidRequestError(issues, count);
}

export function createInvalidRequestError(issues: RequestIssue[], count = issues.length): ApiError {
  const shown = issues.slice(0, maxReportedIssues);
  const countText = count > maxCountedIssues ? `more than ${maxCountedIssues}` : String(count);
  const see = count > shown.length ? `. \`errors\` lists the first ${shown.length}` : ". See `errors`";
  return new ApiError("invalid_request", {
    detail: `The request has ${countText} ${count === 1 ? "issue" : "issues"}${see}.`,
    issues: shown,
  });
}

export function getValueAtPath(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

const defaultMessage = z.locales.en().localeError;
const units: Record<string, string> = { string: "character", array: "item" };
const typeNames: Record<string, string> = {
  int: "an integer",
  object: "an object",
  record: "an object",
  array: "an array",
};
const formatNames: Record<string, string> = {
  guid: "a UUID",
  uuid: "a UUID",
  url: "a URL",
  datetime: "a date and time in ISO 8601",
  date: "a date in ISO 8601",
};

/** Returns the message of an issue: the schema's own message, or a text that replaces zod's default message. */
function describeIssue(issue: z.core.$ZodIssue, input: unknown): string {
  if (issue.message !== defaultMessage({ ...issue, input } as z.core.$ZodRawIssue)) return issue.message;
  switch (issue.code) {
    case "invalid_type":
      return `Must be ${typeNames[issue.expected] ?? `a ${issue.expected}`}`;
    case "invalid_value":
      return `Must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
    case "too_small":
    case "too_big": {
      const isMin = issue.code === "too_small";
      const comparison = issue.inclusive ? `at ${isMin ? "least" : "most"}` : `${isMin ? "more" : "less"} than`;
      const limit = isMin ? issue.minimum : issue.maximum;
      const unit = units[issue.origin];
      if (!unit) return `Must be ${comparison} ${limit}`;
      return `Must have ${comparison} ${limit} ${unit}${Number(limit) === 1 ? "" : "s"}`;
    }
    case "invalid_format":
      return issue.format === "regex"
        ? `Must match ${issue.pattern}`
        : `Must be ${formatNames[issue.format] ?? issue.format}`;
    case "unrecognized_keys":
      return `Must not have the fields ${issue.keys.join(", ")}`;
    default:
      return "Is invalid";
  }
}

/** Returns the received value as JSON; undefined for possible secrets, objects and strings of over 60 characters. */
function describeReceivedValue(value: unknown, path: readonly PropertyKey[]): string | undefined {
  if (/secret|key|token|password/i.test(String(path.at(-1)))) return undefined;
  // Parsing has rounded a larger integer, so that the client has sent another one.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return undefined;
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  return typeof value === "string" && value.length <= 60 ? JSON.stringify(value) : undefined;
}
