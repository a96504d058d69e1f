import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { UpsertRecipient } from "@pragma/contracts/recipient";
import { useSecret } from "./change-secret.ts";
import { limitReached } from "./location-limit.ts";
import {
  countRecipients,
  findRecipient,
  insertRecipient,
  lockLocation,
  lockRecipient,
  outdateWebhooks,
  type RecipientRow,
  updateRecipient,
} from "./queries/recipients.ts";
import type { Webhooks } from "./webhooks.ts";

interface Upserting {
  locationId: string;
  recipient: UpsertRecipient;
}

/** A recipient, and the secret that was made for it, which is to be shown this once. */
export interface UpsertedRecipient {
  recipient: RecipientRow;
  isNew: boolean;
  madeSecret: string | null;
}

/**
 * Makes a recipient, or changes the one of this id. A new one that is given no secret gets one that is made for it.
 *
 * @throws `ApiError` recipient_conflict when the id is taken in another location; limit_reached when the location has as
 * many as it may have; too_many_secrets.
 */
export async function upsertRecipient(
  { db, vault, clock, maxRecipients }: Pick<Webhooks, "db" | "vault" | "clock" | "maxRecipients">,
  { locationId, recipient }: Upserting,
): Promise<UpsertedRecipient> {
  const { name, hmacSecret, apiKey } = recipient;
  const id = recipient.id?.toLowerCase() ?? randomUUID();
  const sealedApiKey = apiKey === undefined || apiKey === null ? apiKey : vault.seal(apiKey);
  return db.transaction(async (tx) => {
    await lockLocation(tx, { schema: db.schema, locationId });
    const now = clock();
    const content = { id, name, sealedApiKey, now };
    const isNew = await insertRecipient(tx, { ...content, locationId });
    if (isNew && (await countRecipients(tx, locationId)) > maxRecipients) {
      throw limitReached({ name: "recipients", maximum: maxRecipients });
    }
    if (!isNew) {
      const held = await lockRecipient(tx, id);
      if (held?.locationId !== locationId) {
        throw new ApiError("recipient_conflict", { detail: "Choose another id, or leave it out to be given one." });
      }
      await updateRecipient(tx, content);
      await outdateWebhooks(tx, id);
    }
    const madeSecret =
      isNew || hmacSecret !== undefined ? await useSecret({ vault }, tx, { recipientId: id, hmacSecret, now }) : null;
    const row = await findRecipient(tx, { id, locationId, now });
    if (!row) throw new Error(`Recipient ${id} is locked, and is not there.`);
    return { recipient: row, isNew, madeSecret };
  });
}
