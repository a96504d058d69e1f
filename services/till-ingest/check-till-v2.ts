import { toUuid } from "@pragma/contracts/client-id";
import { OrderData } from "@pragma/contracts/order-data";
import { refuseTwice } from "@pragma/contracts/refuse-twice";
import { mostOrders, TillV2 } from "@pragma/contracts/till-v2";
import { z } from "zod";
import { FoundFaults } from "./found-faults.ts";
import { excessOf } from "./till-extent.ts";
import type { CheckedTill } from "./till-facts.ts";

/** The orders' ids only, as they will be known. */
const EachOrderOnce = z
  .array(z.unknown().transform((order) => ({ id: idOf(order) })))
  .max(mostOrders)
  .check(refuseTwice("order", "id"));

/** A till but for what is in its orders. */
const Head = TillV2.extend({ orderList: EachOrderOnce });

/**
 * Checks a parsed V2 body against `TillV2`, order by order: what a till full of faults costs is bounded so, and every
 * fault is found all the same, an order that is listed twice among them.
 */
export function checkTillV2(input: unknown): CheckedTill {
  const found = new FoundFaults();
  const orders = ordersOf(input);
  const excess = excessOf(besides(orders, input));
  if (excess) found.add({ path: "", ...excess });
  const head = excess ? undefined : Head.safeParse(input);
  found.addFound(head?.error, input, "");
  for (const [index, order] of orders.slice(0, mostOrders).entries()) {
    if (found.arePlenty) break;
    checkOrder(order, `orderList[${index}]`, found);
  }
  if (!head?.success || found.count > 0) return found;
  const { id, isTraining } = head.data;
  return { facts: { format: "V2", tillId: id, isTraining, orderCount: orders.length, serverId: null } };
}

function checkOrder(order: unknown, path: string, found: FoundFaults): void {
  const excess = excessOf(order);
  if (excess) found.add({ path, ...excess });
  else found.addFound(OrderData.safeParse(order).error, order, path);
}

function ordersOf(input: unknown): unknown[] {
  const list = isObject(input) ? input.orderList : undefined;
  return Array.isArray(list) ? list : [];
}

/** What a till holds besides its orders. */
function besides(orders: unknown[], input: unknown): unknown[] {
  return isObject(input) ? Object.values(input).filter((value) => value !== orders) : [];
}

function idOf(order: unknown): string | undefined {
  return isObject(order) && typeof order.id === "string" ? toUuid(order.id) : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
