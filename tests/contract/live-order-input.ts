import { randomUUID } from "node:crypto";
import { orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import { OrderLiveInput } from "@pragma/contracts/order-live";

const liveOrderExample = OrderLiveInput.parse(orderLiveInputExample);

/** An open order that nobody has sent yet, of a till that is not closed. */
export function createLiveOrderInput(): OrderLiveInput {
  const id = randomUUID();
  return {
    ...liveOrderExample,
    id,
    tillId: randomUUID(),
    revisionHash: randomUUID(),
    data: { ...liveOrderExample.data, id },
  };
}
