import { ApiError } from "@pragma/contracts/errors";
import { afterCommit } from "@pragma/runtime/postgres";
import { type DeliveryRow, isDeliveryThere, makeAgain } from "./queries/deliveries.ts";
import type { Webhooks } from "./webhooks.ts";

/**
 * Has a delivery made again from its first attempt, whatever became of it: the same message, under the same id.
 *
 * @throws `ApiError` delivery_not_found; delivery_under_way while an attempt is.
 */
export async function replayDelivery(
  { db, clock, wake }: Pick<Webhooks, "db" | "clock" | "wake">,
  which: { id: string; locationId: string | null },
): Promise<DeliveryRow> {
  return db.transaction(async (tx) => {
    const delivery = await makeAgain(tx, which, clock());
    if (!delivery) {
      const isThere = await isDeliveryThere(tx, which);
      throw isThere
        ? new ApiError("delivery_under_way", { detail: "Ask again once the attempt that is under way is over." })
        : new ApiError("delivery_not_found");
    }
    afterCommit(tx, () => (delivery.event === "test" ? wake.tests() : wake.deliveries([delivery.webhookId])));
    return delivery;
  });
}
