import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { readableLocation } from "@pragma/runtime/own-location";
import { findWebhook, type WebhookRow } from "../queries/webhooks.ts";
import type { Webhooks } from "../webhooks.ts";

/**
 * The webhook of this id, if the key may see it.
 *
 * @throws `ApiError` webhook_not_found; location_forbidden when the key belongs to no location.
 */
export async function knownWebhook(
  { db }: Pick<Webhooks, "db">,
  { id, principal }: { id: string; principal: Principal },
): Promise<WebhookRow> {
  const webhook = await findWebhook(db.sql, { id, locationId: readableLocation(principal) });
  if (!webhook) throw new ApiError("webhook_not_found");
  return webhook;
}
