import { randomUUID } from "node:crypto";
import { orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import { productRowExample } from "@pragma/contracts/examples/till-v2";
import { OrderLiveInput } from "@pragma/contracts/order-live";

const example = OrderLiveInput.parse(orderLiveInputExample);

type OrderLiveData = OrderLiveInput["data"];

/** An open order with ids of its own, but for the fields that a test is about. */
export function createLiveOrderInput(
  data: Partial<OrderLiveData> = {},
  record: Partial<Omit<OrderLiveInput, "data">> = {},
): OrderLiveInput {
  const id = record.id ?? randomUUID();
  return {
    ...example,
    tillId: randomUUID(),
    revisionHash: randomUUID(),
    ...record,
    id,
    data: { ...example.data, modifiedAt: null, ...data, id },
  };
}

/** The same order after a change, with another revision hash. */
export function changeLiveOrderInput(order: OrderLiveInput, data: Partial<OrderLiveData>): OrderLiveInput {
  return { ...order, revisionHash: randomUUID(), data: { ...order.data, ...data } };
}

/** A product with an id of its own. */
export function createTestProductRow(): OrderLiveData["productRowList"][number] {
  const [row] = example.data.productRowList;
  if (!row) throw new Error("The example has no product.");
  return { ...row, id: `${productRowExample.id} ${randomUUID()}` };
}
