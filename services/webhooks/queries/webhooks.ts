import type { SentEvent, Webhook } from "@pragma/contracts/webhook";
import { recordset, type Sql, type Transaction } from "@pragma/runtime/postgres";
import { type Dated, isOfLocation, type Which } from "./rows.ts";

/** A webhook as replies show it, with dates. */
export type WebhookRow = Dated<Webhook, "createdAt" | "updatedAt" | "failingSince">;

/** The columns of a `WebhookRow`. */
export const webhookColumns = (sql: Sql | Transaction) => sql`
  id, created_at, updated_at, location_id, recipient_id, endpoint_url, events, state, disabled_reason, failing_since,
  last_error`;

/** The condition of being this webhook, if it is not deleted. */
export const isWebhook = (sql: Sql | Transaction, which: Which) =>
  sql`id = ${which.id} and state <> 'deleted' and ${isOfLocation(sql, which)}`;

/** An event at a location. */
export interface EventMatch {
  locationId: string;
  event: SentEvent;
}

/** Returns the ids of the webhooks that listen to each of these, in their order. */
export async function findListeners(sql: Sql, matches: EventMatch[]): Promise<string[][]> {
  const rows = await sql<{ place: number; id: string }[]>`
    select match.place, w.id
    from rows from (jsonb_to_recordset(${recordset(sql, matches)}) as (location_id uuid, event text))
      with ordinality as match (location_id, event, place)
    join webhooks w on w.location_id = match.location_id
    where w.state <> 'deleted' and match.event = any(w.events)`;
  const listeners = matches.map((): string[] => []);
  for (const { place, id } of rows) listeners[place - 1]?.push(id);
  return listeners;
}
