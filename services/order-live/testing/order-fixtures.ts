import { randomUUID } from "node:crypto";
import { orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import { productRowExample } from "@pragma/contracts/examples/till-v2";
import { OrderLiveInput } from "@pragma/contracts/order-live";

const example = OrderLiveInput.parse(orderLiveInputExample);

type OrderLiveData = OrderLiveInput["data"];

/** Returns an open order with unique ids and the given fields. */
export function createTestLiveOrderInput(
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

/** Returns the order after a change, with a new revision hash. */
export function createChangedTestLiveOrder(order: OrderLiveInput, data: Partial<OrderLiveData>): OrderLiveInput {
  return { ...order, revisionHash: randomUUID(), data: { ...order.data, ...data } };
}

/** Returns a product with a unique id. */
export function buildTestLiveOrderProductRow(): OrderLiveData["productRowList"][number] {
  const [row] = example.data.productRowList;
  if (!row) throw new Error("The example has no product.");
  return { ...row, id: `${productRowExample.id} ${randomUUID()}` };
}
