import { ApiError } from "@pragma/contracts/errors";
import { afterCommit } from "@pragma/runtime/postgres";
import type { RequestContext } from "@pragma/runtime/request-context";
import { jobOf } from "./delivering/announce.ts";
import { type DeliveryRow, isDeliveryThere, makeAgain } from "./queries/deliveries.ts";
import type { Webhooks } from "./webhooks.ts";

/**
 * Has a delivery made again from its first attempt, whatever became of it: the same message, under the same id.
 *
 * @throws `ApiError` delivery_not_found; delivery_under_way while an attempt is.
 */
export async function replayDelivery(
  { db, clock, announce }: Pick<Webhooks, "db" | "clock" | "announce">,
  { context, ...which }: { id: string; locationId: string | null; context: RequestContext },
): Promise<DeliveryRow> {
  return db.transaction(async (tx) => {
    const made = await makeAgain(tx, which, clock());
    if (!made) {
      const isThere = await isDeliveryThere(tx, which);
      throw isThere
        ? new ApiError("delivery_under_way", { detail: "Ask again once the attempt that is under way is over." })
        : new ApiError("delivery_not_found");
    }
    const { generation, attempt, ...delivery } = made;
    const { id: deliveryId, webhookId, event } = delivery;
    const job = jobOf(event, webhookId, { deliveryId, generation, attempt });
    afterCommit(tx, () => void announce([{ ...job, traceparent: context.traceparent }]));
    return delivery;
  });
}
