import { ApiError, type Fault, maxFaults } from "@pragma/contracts/errors";
import { limitedList, refuseTwice, toUuid } from "@pragma/contracts/fields";
import { z } from "zod";
import { checkPartLimits, type PartLimits } from "./json-limits.ts";

/** What is wrong with a body. */
export interface FaultyBody {
  /** The first faults. */
  faults: Fault[];
  /** How many there are in all. */
  count: number;
}

/**
 * The faults that a schema found in one part of a request, in this API's words: as many as a reply lists. `place` is
 * where in that part its input stands.
 */
export function faultsOf(part: Fault["in"], error: z.ZodError, input: unknown, place = ""): Fault[] {
  return error.issues.slice(0, maxFaults).map((issue) => {
    const value = valueAt(input, issue.path);
    const path = pathOf(issue.path, place);
    if (value === undefined && issue.code !== "custom") {
      return { in: part, path, code: "required", message: `is required (${issue.message})` };
    }
    return { in: part, path, code: codeOf(issue), message: `${issue.message}${received(value, issue.path)}` };
  });
}

/** Gathers the faults of a request that is checked part by part: keeps those that a reply lists, and counts all. */
export class FoundFaults implements FaultyBody {
  readonly faults: Fault[] = [];
  count = 0;

  /** What a schema found in what stands at `path` of a part of the request. */
  addFound(error: z.ZodError | undefined, input: unknown, path = "", part: Fault["in"] = "body"): void {
    if (error) this.addAll({ faults: faultsOf(part, error, input, path), count: error.issues.length });
  }

  /** What a schema makes of a part of the body that is no larger than it may be; undefined when it has faults. */
  check<Schema extends z.ZodType>(
    schema: Schema,
    value: unknown,
    { path, limits }: { path: string; limits: PartLimits },
  ): z.output<Schema> | undefined {
    const excess = checkPartLimits(value, limits);
    if (excess) {
      this.add({ path, ...excess });
      return undefined;
    }
    const { data, error } = schema.safeParse(value);
    this.addFound(error, value, path);
    return data;
  }

  addAll({ faults, count }: FaultyBody): void {
    this.faults.push(...faults.slice(0, maxFaults - this.faults.length));
    this.count += count;
  }

  add(fault: Omit<Fault, "in">): void {
    this.addAll({ faults: [{ in: "body", ...fault }], count: 1 });
  }

  /** Whether there are so many that no reply tells one more from one less. */
  get arePlenty(): boolean {
    return this.count > maxCounted;
  }
}

/** The list of orders with nothing of them but their ids, as they will be known: each once, and not too many. */
export function orderIds<Field extends string>(idField: Field, max: number, size?: { min: number }) {
  const idOf = (order: unknown) => {
    const id = valueAt(order, [idField]);
    return typeof id === "string" ? toUuid(id) : undefined;
  };
  const ids = z.unknown().transform((order) => ({ [idField]: idOf(order) }) as Record<Field, string | undefined>);
  return limitedList(ids, max, size).check(refuseTwice("order", idField));
}

/** A check of our own names its kind of fault in `params.code`. */
function codeOf(issue: z.core.$ZodIssue): string {
  const named: unknown = issue.code === "custom" ? issue.params?.code : undefined;
  return typeof named === "string" ? named : issue.code;
}

/** `["orderList", 3, "guestsCount"]` as `orderList[3].guestsCount`, after the place that it starts from. */
function pathOf(path: readonly PropertyKey[], place: string): string {
  let text = place;
  for (const key of path) text += typeof key === "number" ? `[${key}]` : `${text && "."}${String(key)}`;
  return text;
}

/** Up to here faults are counted; beyond, a reply says that there are more. */
const maxCounted = 10_000;

/** @throws `ApiError` invalid_request if there is any fault. */
export function refuseFaults(faults: Fault[], count = faults.length): void {
  if (count > 0) throw invalidRequest(faults, count);
}

/** The refusal of a request: it lists the first hundred faults and says how many there are. */
export function invalidRequest(faults: Fault[], count = faults.length): ApiError {
  const shown = faults.slice(0, maxFaults);
  const number = count > maxCounted ? `more than ${maxCounted}` : String(count);
  const more = count > shown.length ? `, of which the first ${shown.length} are listed` : "";
  return new ApiError("invalid_request", {
    detail: `The request has ${number} ${count === 1 ? "fault" : "faults"}${more}: see errors.`,
    faults: shown,
  });
}

/** Returns what stands at a path in a value; undefined where nothing does. */
export function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
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
