import { ApiError } from "@pragma/contracts/errors";
import { removeDeleted } from "./periodic/remove-old.ts";
import { markDeleted } from "./queries/webhooks.ts";
import type { Webhooks } from "./webhooks.ts";

/** Deliveries that are removed at once; more than these are left to the next turn of the periodic task. */
const mostAtOnce = 5_000;

/**
 * Deletes a webhook with the log of its deliveries. Nothing is sent to it any more, not even what was due.
 *
 * @throws `ApiError` webhook_not_found.
 */
export async function deleteWebhook(
  { db, clock }: Pick<Webhooks, "db" | "clock">,
  which: { id: string; locationId: string | null },
): Promise<void> {
  const isMarked = await db.transaction((tx) => markDeleted(tx, which, clock()));
  if (!isMarked) throw new ApiError("webhook_not_found");
  await removeDeleted(db.sql, { most: mostAtOnce });
}
