import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { UpsertWebhook } from "@pragma/contracts/webhook";
import { refuseFaults } from "@pragma/runtime/faults";
import { limitReached } from "./location-limit.ts";
import { keepRecipient, lockLocation } from "./queries/recipients.ts";
import { countWebhooks, insertWebhook, lockWebhook, updateWebhook, type WebhookRow } from "./queries/webhooks.ts";
import type { Webhooks } from "./webhooks.ts";

interface Upserting {
  locationId: string;
  /** Its endpoint has been checked. */
  webhook: UpsertWebhook;
}

/**
 * Makes a webhook, or changes the one of this id; whether that is active, paused or disabled stays as it is.
 *
 * @throws `ApiError` webhook_conflict when the id is taken in another location, or was of a webhook that is being
 * removed; limit_reached when the location has as many as it may have; invalid_request when it has no such recipient.
 */
export async function upsertWebhook(
  { db, clock, maxWebhooks }: Pick<Webhooks, "db" | "clock" | "maxWebhooks">,
  { locationId, webhook }: Upserting,
): Promise<{ webhook: WebhookRow; isNew: boolean }> {
  const { recipientId, endpointUrl, events } = webhook;
  const content = { id: webhook.id?.toLowerCase() ?? randomUUID(), recipientId, endpointUrl, events };
  return db.transaction(async (tx) => {
    await lockLocation(tx, { schema: db.schema, locationId });
    if (!(await keepRecipient(tx, { id: recipientId, locationId }))) {
      const message = "must be the id of a recipient of the location";
      refuseFaults([{ in: "body", path: "recipientId", code: "unknown_recipient", message }]);
    }
    const now = clock();
    const inserted = await insertWebhook(tx, { ...content, locationId, now });
    if (inserted) {
      const isTooMany = (await countWebhooks(tx, locationId)) > maxWebhooks;
      if (isTooMany) throw limitReached({ name: "webhooks", maximum: maxWebhooks });
      return { webhook: inserted, isNew: true };
    }
    const held = await lockWebhook(tx, content.id);
    if (!held || held.locationId !== locationId || held.isDeleted) {
      throw new ApiError("webhook_conflict", { detail: "Choose another id, or leave it out to be given one." });
    }
    return { webhook: await updateWebhook(tx, { ...content, now }), isNew: false };
  });
}
