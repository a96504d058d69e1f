import type { OrderData } from "@pragma/contracts/order-data";
import type { OrderV2 } from "@pragma/contracts/order-v2";
import type { OrderIdentity } from "./order-v1.ts";

/** An order as `/v2/orders/` shows it, as it is known before it is stored. */
export type UnstoredOrderV2 = Omit<OrderV2, "createdAt" | "updatedAt">;

/** An order whole, as the point of sale sent it; one that does not name its till gets the till that it came with. */
export function orderV2(order: OrderData, tillId: string, identity: OrderIdentity): UnstoredOrderV2 {
  return { ...order, tillId: order.tillId ?? tillId, ...identity };
}
