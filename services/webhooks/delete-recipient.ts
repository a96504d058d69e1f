import { ApiError } from "@pragma/contracts/errors";
import { deleteRecipient as deleteLocked, lockRecipient } from "./queries/recipients.ts";
import type { Webhooks } from "./webhooks.ts";

/**
 * Deletes a recipient with its secrets.
 *
 * @throws `ApiError` recipient_not_found; recipient_in_use while it has webhooks.
 */
export async function deleteRecipient(
  { db }: Pick<Webhooks, "db">,
  { id, locationId }: { id: string; locationId: string | null },
): Promise<void> {
  await db.transaction(async (tx) => {
    const held = await lockRecipient(tx, id);
    if (!held || (locationId !== null && held.locationId !== locationId)) throw new ApiError("recipient_not_found");
    if (await deleteLocked(tx, id)) return;
    throw new ApiError("recipient_in_use", {
      detail: "Delete its webhooks first. Those with a long log take a while to be gone after they are deleted.",
    });
  });
}
