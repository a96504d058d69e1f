import { ApiError, type Fault, maxFaults } from "@pragma/contracts/errors";
import type { z } from "zod";

/** The faults that a schema found in one part of a request, in this API's words. */
export function faultsOf(part: Fault["in"], error: z.ZodError, input: unknown): Fault[] {
  return error.issues.map((issue) => {
    const value = valueAt(input, issue.path);
    const path = pathOf(issue.path);
    if (value === undefined && issue.code !== "custom") {
      return { in: part, path, code: "required", message: `is required (${issue.message})` };
    }
    return { in: part, path, code: issue.code, message: `${issue.message}${received(value, issue.path)}` };
  });
}

/** `["orderList", 3, "guestsCount"]` as `orderList[3].guestsCount`. */
export function pathOf(path: readonly PropertyKey[]): string {
  return path
    .map((key, index) => (typeof key === "number" ? `[${key}]` : `${index > 0 ? "." : ""}${String(key)}`))
    .join("");
}

/** Throws `invalid_request` with every fault, if there is any; the reply lists the first hundred. */
export function refuseFaults(faults: Fault[]): void {
  if (faults.length === 0) return;
  const shown = faults.slice(0, maxFaults);
  const count = faults.length === 1 ? "1 fault" : `${faults.length} faults`;
  const more = faults.length > shown.length ? `, of which the first ${shown.length} are listed` : "";
  throw new ApiError("invalid_request", { detail: `The request has ${count}${more}: see errors.`, faults: shown });
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
