import { ApiError, type Fault, maxFaults } from "@pragma/contracts/errors";
import type { z } from "zod";

/** What is wrong with a body. */
export interface FaultyBody {
  /** The first faults. */
  faults: Fault[];
  /** How many there are in all. */
  count: number;
}

/** The faults that a schema found in one part of a request, in this API's words: as many as a reply lists. */
export function faultsOf(part: Fault["in"], error: z.ZodError, input: unknown): Fault[] {
  return error.issues.slice(0, maxFaults).map((issue) => {
    const value = valueAt(input, issue.path);
    const path = pathOf(issue.path);
    if (value === undefined && issue.code !== "custom") {
      return { in: part, path, code: "required", message: `is required (${issue.message})` };
    }
    return { in: part, path, code: codeOf(issue), message: `${issue.message}${received(value, issue.path)}` };
  });
}

/** A check of our own names its kind of fault in `params.code`. */
function codeOf(issue: z.core.$ZodIssue): string {
  const named: unknown = issue.code === "custom" ? issue.params?.code : undefined;
  return typeof named === "string" ? named : issue.code;
}

/** `["orderList", 3, "guestsCount"]` as `orderList[3].guestsCount`. */
function pathOf(path: readonly PropertyKey[]): string {
  return path
    .map((key, index) => (typeof key === "number" ? `[${key}]` : `${index > 0 ? "." : ""}${String(key)}`))
    .join("");
}

/** Up to here faults are counted; beyond, a reply says that there are more. */
export const maxCounted = 10_000;

/** Throws `invalid_request` if there is any fault; the reply lists the first hundred and says how many there are. */
export function refuseFaults(faults: Fault[], count = faults.length): void {
  if (count === 0) return;
  const shown = faults.slice(0, maxFaults);
  const number = count > maxCounted ? `more than ${maxCounted}` : String(count);
  const more = count > shown.length ? `, of which the first ${shown.length} are listed` : "";
  throw new ApiError("invalid_request", {
    detail: `The request has ${number} ${count === 1 ? "fault" : "faults"}${more}: see errors.`,
    faults: shown,
  });
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** Says what was sent where that helps to find it: short plain values, and never what may be a secret. */
function received(value: unknown, path: readonly PropertyKey[]): string {
  if (/secret|key|token|password/i.test(String(path.at(-1)))) return "";
  if (typeof value === "number" || typeof value === "boolean" || value === null) return `; got ${value}`;
  if (typeof value === "string" && value.length <= 60) return `; got ${JSON.stringify(value)}`;
  return "";
}
