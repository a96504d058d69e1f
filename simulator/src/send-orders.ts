import type { LiveOrder } from "./order-revisions.ts";
import { patiently } from "./patiently.ts";
import type { Playing } from "./playing.ts";

/** Sends open orders as they are now, in one call, and says how many were taken: the others were known already. */
export async function sendOrders(playing: Playing, orders: readonly LiveOrder[]): Promise<number> {
  const { api } = playing;
  const { data: taken } = await patiently(playing, (signal) =>
    api.POST("/v1/orders-live", { body: [...orders], signal }),
  );
  // A repeated call whose reply was too large to be kept is answered without one.
  return taken?.length ?? orders.length;
}
