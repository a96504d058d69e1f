import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { getReadableLocationId } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import type { WebhooksContext } from "../context.ts";
import type { LocationScopedId } from "../queries/row-types.ts";
import { type WebhookRow, webhookColumns, webhookCondition } from "../queries/webhooks.ts";

export const recipientParams = z.object({ id: z.guid().meta({ description: "Id of the recipient" }) });

export const webhookParams = z.object({ id: z.guid().meta({ description: "Id of the webhook" }) });

export const deliveryParams = z.object({ id: z.guid().meta({ description: "Id of the delivery" }) });

/** Of lists: whose things. */
export const locationIdQuery = {
  locationId: z.guid().optional().meta({ description: "The location of the key, unless the key may act for any" }),
};

/**
 * What a request names, if the key may see it.
 *
 * @throws `ApiError` location_forbidden when the key belongs to no location.
 */
export const toLocationScopedId = ({ id }: { id: string }, principal: Principal): LocationScopedId => ({
  id,
  locationId: getReadableLocationId(principal),
});

/**
 * The webhook of this id, if the key may see it.
 *
 * @throws `ApiError` webhook_not_found; location_forbidden when the key belongs to no location.
 */
export async function requireReadableWebhook(
  { db: { sql } }: Pick<WebhooksContext, "db">,
  params: { id: string },
  principal: Principal,
): Promise<WebhookRow> {
  const target = toLocationScopedId(params, principal);
  const [webhook] = await sql<
    WebhookRow[]
  >`select ${webhookColumns(sql)} from webhooks where ${webhookCondition(sql, target)}`;
  if (!webhook) throw new ApiError("webhook_not_found");
  return webhook;
}

/** The refusal of one more than a location may have of what the documentation's table of limits calls `name`. */
export function createLocationLimitError(name: "webhooks" | "recipients", maximum: number): ApiError {
  return new ApiError("limit_reached", {
    detail: `A location may have ${maximum} ${name}. Delete one that is not needed any more, then create this one.`,
    limit: { name, maximum, unit: `${name} of a location` },
  });
}
