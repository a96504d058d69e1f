import type { Webhook, WebhookEventName } from "@pragma/contracts/webhook";
import { type SqlClient, type SqlTransaction, toRecordsetParameter } from "@pragma/runtime/database/postgres";
import { type LocationScopedId, locationCondition, type WithDates } from "./row-types.ts";

/** A webhook as replies show it, with dates. */
export type WebhookRow = WithDates<Webhook, "createdAt" | "updatedAt" | "failingSince">;

/** The columns of a `WebhookRow`. */
export const webhookColumns = (sql: SqlClient | SqlTransaction) => sql`
  id, created_at, updated_at, location_id, recipient_id, endpoint_url, events, state, disabled_reason, failing_since,
  last_error`;

/** The condition of being this webhook, if it is not deleted. */
export const webhookCondition = (sql: SqlClient | SqlTransaction, target: LocationScopedId) =>
  sql`id = ${target.id} and state <> 'deleted' and ${locationCondition(sql, target)}`;

/** An event at a location. */
export interface EventMatch {
  locationId: string;
  event: WebhookEventName;
}

/** Returns the ids of the webhooks that listen to each of these, in their order. */
export async function findSubscribedWebhookIds(sql: SqlClient, matches: EventMatch[]): Promise<string[][]> {
  const rows = await sql<{ place: number; id: string }[]>`
    select match.place, w.id
    from rows from (jsonb_to_recordset(${toRecordsetParameter(sql, matches)}) as (location_id uuid, event text))
      with ordinality as match (location_id, event, place)
    join webhooks w on w.location_id = match.location_id
    where w.state <> 'deleted' and match.event = any(w.events)`;
  const webhookIdsByMatch = matches.map((): string[] => []);
  for (const { place, id } of rows) webhookIdsByMatch[place - 1]?.push(id);
  return webhookIdsByMatch;
}
