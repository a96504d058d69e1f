import { randomUUID } from "node:crypto";
import { orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import { OrderLiveInput } from "@pragma/contracts/order-live";

const liveOrderExample = OrderLiveInput.parse(orderLiveInputExample);

/** Returns a new open order of a new till. */
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
