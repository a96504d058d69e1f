import { type OrderLiveInput, pickHead } from "@pragma/contracts/order-live";
import { type GivenState, rowsHashOf } from "./order-state.ts";

/** An order as an upsert brings it, read and found sound. */
export interface GivenOrder {
  order: OrderLiveInput;
  state: GivenState;
  /** The reply as JSON, but for its id, its times and its location. */
  content: string;
}

export function givenOrder(order: OrderLiveInput): GivenOrder {
  const { id: _, data, ...record } = order;
  const { isPaid, isTransferred, isCanceled, manuallyClosed: isManuallyClosed, modifiedAt } = data;
  return {
    order,
    state: {
      tillId: order.tillId,
      revisionHash: order.revisionHash,
      modifiedAt,
      rowsHash: rowsHashOf(data),
      isPaid,
      isTransferred,
      isCanceled,
      isManuallyClosed,
    },
    content: JSON.stringify({ ...record, ...pickHead(data), data }),
  };
}
