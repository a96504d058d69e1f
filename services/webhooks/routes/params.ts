import { ApiError } from "@pragma/contracts/errors";
import { paginationQueryShape } from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
import { getReadRestrictionLocationId, locationIdQueryParameter } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import type { WebhooksServiceContext } from "../context.ts";
import type { LocationScopedId } from "../queries/row-types.ts";
import { type WebhookRow, webhookByIdCondition, webhookColumns } from "../queries/webhooks.ts";

export const webhookRecipientPathParams = z.object({ id: z.guid().meta({ description: "ID of the recipient" }) });

export const webhookPathParams = z.object({ id: z.guid().meta({ description: "ID of the webhook" }) });

export const webhookDeliveryPathParams = z.object({ id: z.guid().meta({ description: "ID of the delivery" }) });

export const listOfLocationQuery = z.object({
  locationId: locationIdQueryParameter(
    "ID of the location whose data is returned. Defaults to the API key's location.",
  ),
  ...paginationQueryShape,
});

/** @throws `ApiError` location_forbidden when the key belongs to no location. */
export const getPathIdWithReadableLocation = ({ id }: { id: string }, principal: Principal): LocationScopedId => ({
  id,
  locationId: getReadRestrictionLocationId(principal),
});

/** @throws `ApiError` webhook_not_found; location_forbidden when the key belongs to no location. */
export async function requireReadableWebhook(
  { db: { sql } }: Pick<WebhooksServiceContext, "db">,
  params: { id: string },
  principal: Principal,
): Promise<WebhookRow> {
  const isTarget = webhookByIdCondition(sql, getPathIdWithReadableLocation(params, principal));
  const [webhook] = await sql<WebhookRow[]>`select ${webhookColumns(sql)} from webhooks where ${isTarget}`;
  if (!webhook) throw new ApiError("webhook_not_found");
  return webhook;
}

/** Returns the error for exceeding a limit per location. `name` is the name of the limit in the documentation. */
export function createPerLocationLimitError(name: "webhooks" | "recipients", maximum: number): ApiError {
  return new ApiError("limit_reached", {
    detail: `A location can have up to ${maximum} ${name}. Delete the ${name} that you no longer need, then try again.`,
    limit: { name, maximum, unit: `${name} of a location` },
  });
}
