import { toUuid } from "@pragma/contracts/client-id";
import { limitedList } from "@pragma/contracts/length-limits";
import { refuseTwice } from "@pragma/contracts/refuse-twice";
import { maxOrders } from "@pragma/contracts/till-v2";
import { FoundFaults } from "@pragma/runtime/faults";
import { checkPartLimits } from "@pragma/runtime/json-limits";
import { z } from "zod";
import type { FaultyTill } from "./till-facts.ts";
import { orderLimits } from "./till-limits.ts";

interface Pieces<Head extends z.ZodType> {
  /** The whole till, but of its orders `orderIds` only. */
  head: Head;
  order: z.ZodType;
  /** The fields that lead to the list of orders. */
  ordersAt: string[];
}

/** The list of a till's orders with nothing of them but their ids, as they will be known: each once, and not too many. */
export function orderIds<Field extends string>(idField: Field) {
  return limitedList(
    z.unknown().transform((order) => ({ [idField]: idOf(order, idField) }) as Record<Field, string | undefined>),
    maxOrders,
  ).check(refuseTwice("order", idField));
}

/**
 * Checks a parsed till order by order: what a till full of faults costs is bounded so, and every fault is found all the
 * same, an order that is listed twice among them.
 */
export function checkInPieces<Head extends z.ZodType>(
  input: unknown,
  { head, order, ordersAt }: Pieces<Head>,
): { head: z.output<Head>; orderCount: number } | FaultyTill {
  const found = new FoundFaults();
  const list = ordersAt.reduce(fieldOf, input);
  const orders: unknown[] = Array.isArray(list) ? list : [];
  const excess = checkPartLimits(input, orderLimits, { besides: orders });
  if (excess) found.add({ path: "", ...excess });
  const result = excess ? undefined : head.safeParse(input);
  found.addFound(result?.error, input);
  for (const [index, each] of orders.slice(0, maxOrders).entries()) {
    if (found.arePlenty) break;
    checkOrder(each, order, { path: `${ordersAt.join(".")}[${index}]`, found });
  }
  return result?.success && found.count === 0 ? { head: result.data, orderCount: orders.length } : found;
}

function checkOrder(order: unknown, schema: z.ZodType, { path, found }: { path: string; found: FoundFaults }): void {
  const excess = checkPartLimits(order, orderLimits);
  if (excess) found.add({ path, ...excess });
  else found.addFound(schema.safeParse(order).error, order, path);
}

function idOf(order: unknown, idField: string): string | undefined {
  const id = fieldOf(order, idField);
  return typeof id === "string" ? toUuid(id) : undefined;
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[field] : undefined;
}
