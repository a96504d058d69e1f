import { ApiError } from "@pragma/contracts/errors";
import type { RotateSecret } from "@pragma/contracts/recipient";
import { useSecret } from "./change-secret.ts";
import { findRecipient, lockRecipient, outdateWebhooks, type RecipientRow } from "./queries/recipients.ts";
import type { Webhooks } from "./webhooks.ts";

interface Rotating {
  id: string;
  /** Null: of any location. */
  locationId: string | null;
  rotation: RotateSecret;
}

/**
 * Gives a recipient another secret; those of before sign for another 24 hours, unless they have leaked.
 *
 * @throws `ApiError` recipient_not_found, too_many_secrets.
 */
export async function rotateSecret(
  { db, vault, clock }: Pick<Webhooks, "db" | "vault" | "clock">,
  { id, locationId, rotation }: Rotating,
): Promise<{ recipient: RecipientRow; madeSecret: string | null }> {
  return db.transaction(async (tx) => {
    const now = clock();
    const held = await lockRecipient(tx, id);
    if (!held || (locationId !== null && held.locationId !== locationId)) throw new ApiError("recipient_not_found");
    const { hmacSecret, isLeaked } = rotation;
    const madeSecret = await useSecret({ vault }, tx, { recipientId: id, hmacSecret, isLeaked, now });
    await outdateWebhooks(tx, id);
    const recipient = await findRecipient(tx, { id, locationId, now });
    if (!recipient) throw new Error(`Recipient ${id} is locked, and is not there.`);
    return { recipient, madeSecret };
  });
}
