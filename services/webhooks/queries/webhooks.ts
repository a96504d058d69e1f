import type { Webhook, WebhookEventName } from "@pragma/contracts/webhook";
import { type SqlClient, type SqlTransaction, toRecordsetParameter } from "@pragma/runtime/database/postgres";
import { type LocationScopedId, locationCondition, type WithDateFields } from "./row-types.ts";

export type WebhookRow = WithDateFields<Webhook, "createdAt" | "updatedAt" | "failingSince">;

export const webhookColumns = (sql: SqlClient | SqlTransaction) => sql`
  id, created_at, updated_at, location_id, recipient_id, endpoint_url, events, state, disabled_reason, failing_since,
  last_error`;

/** Returns the SQL condition for a webhook with this id, unless it is deleted or belongs to another location. */
export const webhookByIdCondition = (sql: SqlClient | SqlTransaction, target: LocationScopedId) =>
  sql`id = ${target.id} and state <> 'deleted' and ${locationCondition(sql, target)}`;

export interface LocationWebhookEventKey {
  locationId: string;
  event: WebhookEventName;
}

/** For each match, in the same order, returns the ids of the location's webhooks that subscribe to the event. */
export async function findWebhookIdsPerEvent(sql: SqlClient, matches: LocationWebhookEventKey[]): Promise<string[][]> {
  const rows = await sql<{ position: number; id: string }[]>`
    select match.position, w.id
    from rows from (jsonb_to_recordset(${toRecordsetParameter(sql, matches)}) as (location_id uuid, event text))
      with ordinality as match (location_id, event, position)
    join webhooks w on w.location_id = match.location_id
    where w.state <> 'deleted' and match.event = any(w.events)`;
  const webhookIdsByMatch = matches.map((): string[] => []);
  for (const { position, id } of rows) webhookIdsByMatch[position - 1]?.push(id);
  return webhookIdsByMatch;
}
