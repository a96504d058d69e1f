import { randomUUID } from "node:crypto";
import { tillV1Example } from "@pragma/contracts/examples/till-v1";
import { tillV2Example } from "@pragma/contracts/examples/till-v2";
import { TillV1 } from "@pragma/contracts/till-v1";
import { TillV2 } from "@pragma/contracts/till-v2";

type Order = TillV2["orderList"][number];
type TillJson = TillV1["tillJson"];

const tillV2 = TillV2.parse(tillV2Example);
const tillV1 = TillV1.parse(tillV1Example);

/** Returns a valid till with a new id and one order, with these fields overridden. */
export function buildTestTill(fields: Partial<TillV2> = {}): TillV2 {
  return { ...tillV2, id: randomUUID(), orderList: [buildTestOrder()], ...fields };
}

/** Returns a valid order with a new id, with these fields overridden. */
export function buildTestOrder(fields: Partial<Order> = {}): Order {
  const [order] = tillV2.orderList;
  if (!order) throw new Error("The example has no order.");
  return { ...order, id: randomUUID(), ...fields };
}

/** Returns `count` orders with `products` rows each. 3,000 orders with 4 rows each have a size of about 35 MB. */
export function buildTestOrders(count: number, { products = 1 }: { products?: number } = {}): Order[] {
  const [row] = buildTestOrder().productRowList;
  if (!row) throw new Error("The example has no product.");
  const productRowList = Array.from({ length: products }, (_, index) => ({ ...row, id: `row-${index}` }));
  return Array.from({ length: count }, () => buildTestOrder({ productRowList }));
}

/** Returns a valid V1 till with a new id and one order, with these fields overridden. */
export function buildTestTillV1(fields: Partial<TillV1> = {}, tillJson: Partial<TillJson> = {}): TillV1 {
  const tickets = tillV1.tillJson.tickets.map((ticket) => ({ ...ticket, order_id: randomUUID() }));
  return {
    ...tillV1,
    tillJson: { ...tillV1.tillJson, client_id: randomUUID(), tickets, ...tillJson },
    ...fields,
  };
}
