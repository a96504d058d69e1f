import { randomUUID } from "node:crypto";
import type { TillV2Input } from "@pragma/contracts/till-v2";
import { tillV2Example } from "../till-v2-example.ts";

type Order = TillV2Input["orderList"][number];

/** A till with an id of its own and one order, but for the fields that a test is about. */
export function makeTill(fields: Partial<TillV2Input> = {}): TillV2Input {
  return { ...structuredClone<TillV2Input>(tillV2Example), id: randomUUID(), orderList: [makeOrder()], ...fields };
}

/** An order with an id of its own, but for the fields that a test is about. */
export function makeOrder(fields: Partial<Order> = {}): Order {
  return { ...structuredClone<Order>(tillV2Example.orderList[0]), id: randomUUID(), ...fields };
}

/** So many orders with so many products each: 3,000 with 11 make about 30 MB. */
export function makeOrders(count: number, { products = 1 }: { products?: number } = {}): Order[] {
  const [row] = makeOrder().productRowList;
  if (!row) throw new Error("The example has no product.");
  const productRowList = Array.from({ length: products }, (_, index) => ({ ...row, id: `row-${index}` }));
  return Array.from({ length: count }, () => makeOrder({ productRowList }));
}
