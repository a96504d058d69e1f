import { randomUUID } from "node:crypto";
import { orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import { OrderLiveInput } from "@pragma/contracts/order-live";

const example = OrderLiveInput.parse(orderLiveInputExample);

/** An open order that nobody has sent yet, of a till that is not closed. */
export function newLiveOrder(): OrderLiveInput {
  const id = randomUUID();
  return { ...example, id, tillId: randomUUID(), revisionHash: randomUUID(), data: { ...example.data, id } };
}
