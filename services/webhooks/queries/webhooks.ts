import type { SentEvent, Webhook } from "@pragma/contracts/webhook";
import { recordset, type Sql, type Transaction } from "@pragma/runtime/postgres";
import type { PageRange } from "@pragma/runtime/reply-with-page";
import { type Dated, isOfLocation, listNewest, type Which } from "./rows.ts";

/** A webhook as replies show it, with dates. */
export type WebhookRow = Dated<Webhook, "createdAt" | "updatedAt" | "failingSince">;

const shown = (sql: Sql | Transaction) => sql`
  id, created_at as "createdAt", updated_at as "updatedAt", location_id as "locationId",
  recipient_id as "recipientId", endpoint_url as "endpointUrl", events, state, disabled_reason as "disabledReason",
  failing_since as "failingSince", last_error as "lastError"`;

const isThis = (sql: Sql | Transaction, which: Which) =>
  sql`id = ${which.id} and state <> 'deleted' and ${isOfLocation(sql, which)}`;

export async function findWebhook(sql: Sql, which: Which): Promise<WebhookRow | undefined> {
  const [row] = await sql<WebhookRow[]>`select ${shown(sql)} from webhooks where ${isThis(sql, which)}`;
  return row;
}

/** A page of a location's webhooks, newest first, and how many there are. */
export function listWebhooks(sql: Sql, locationId: string, range: PageRange) {
  const where = sql`location_id = ${locationId} and state <> 'deleted'`;
  return listNewest<WebhookRow>(sql, { columns: shown(sql), table: sql`webhooks`, where }, range);
}

export async function countWebhooks(tx: Transaction, locationId: string): Promise<number> {
  const [row] = await tx<[{ count: number }]>`
    select count(*) as count from webhooks where location_id = ${locationId} and state <> 'deleted'`;
  return row.count;
}

interface WebhookContent {
  id: string;
  locationId: string;
  recipientId: string;
  endpointUrl: string;
  events: readonly string[];
  now: Date;
}

/** Adds a webhook; undefined, and nothing is added, when its id is taken. */
export async function insertWebhook(
  tx: Transaction,
  { id, locationId, recipientId, endpointUrl, events, now }: WebhookContent,
): Promise<WebhookRow | undefined> {
  const [row] = await tx<WebhookRow[]>`
    insert into webhooks (
      id, location_id, recipient_id, endpoint_url, events, state, revision, created_at, updated_at
    ) values (${id}, ${locationId}, ${recipientId}, ${endpointUrl}, ${[...events]}, 'active', 1, ${now}, ${now})
    on conflict (id) do nothing
    returning ${shown(tx)}`;
  return row;
}

/** Changes a webhook; undefined when the location has none of this id. Of another endpoint it is not known whether it fails. */
export async function updateWebhook(
  tx: Transaction,
  { id, locationId, recipientId, endpointUrl, events, now }: WebhookContent,
): Promise<WebhookRow | undefined> {
  const [row] = await tx<WebhookRow[]>`
    update webhooks set
      recipient_id = ${recipientId}, endpoint_url = ${endpointUrl}, events = ${[...events]}, updated_at = ${now},
      revision = revision + 1,
      failing_since = case when endpoint_url = ${endpointUrl} then failing_since end,
      last_error = case when endpoint_url = ${endpointUrl} then last_error end,
      warned_at = case when endpoint_url = ${endpointUrl} then warned_at end
    where ${isThis(tx, { id, locationId })}
    returning ${shown(tx)}`;
  return row;
}

/** Pauses or resumes a webhook. One that is resumed has not failed yet. */
export async function setState(
  tx: Transaction,
  which: Which,
  { state, now }: { state: "active" | "paused"; now: Date },
): Promise<WebhookRow | undefined> {
  const [row] = await tx<WebhookRow[]>`
    update webhooks set
      state = ${state}, disabled_reason = null, revision = revision + 1, updated_at = ${now},
      failing_since = case when ${state} = 'paused' then failing_since end,
      last_error = case when ${state} = 'paused' then last_error end,
      warned_at = case when ${state} = 'paused' then warned_at end
    where ${isThis(tx, which)}
    returning ${shown(tx)}`;
  return row;
}

/** Takes a webhook out of sight; false when there is none. What is left of it is removed in portions. */
export async function markDeleted(tx: Transaction, which: Which, now: Date): Promise<boolean> {
  const marked = await tx`
    update webhooks set state = 'deleted', disabled_reason = null, revision = revision + 1, updated_at = ${now}
    where ${isThis(tx, which)}`;
  return marked.count === 1;
}

/** A webhook that an event is for. */
export interface Listener {
  id: string;
  isActive: boolean;
}

/** An event at a location. */
export interface EventMatch {
  locationId: string;
  event: SentEvent;
}

/** The webhooks that listen to each of these, in their order. */
export async function findListeners(sql: Sql, matches: EventMatch[]): Promise<Listener[][]> {
  const given = matches.map((match, place) => ({ ...match, place }));
  const rows = await sql<(Listener & { place: number })[]>`
    select match.place, w.id, w.state = 'active' as "isActive"
    from jsonb_to_recordset(${recordset(sql, given)}) as match ("locationId" uuid, event text, place int)
    join webhooks w on w.location_id = match."locationId"
    where w.state <> 'deleted' and match.event = any(w.events)`;
  const listeners = matches.map((): Listener[] => []);
  for (const { place, id, isActive } of rows) listeners[place]?.push({ id, isActive });
  return listeners;
}

/** The other endpoints of the recipient whose endpoint this is, once each, as far as they are sent to. */
export async function otherEndpoints(sql: Sql, webhookId: string, endpointUrl: string): Promise<Listener[]> {
  return sql<Listener[]>`
    select distinct on (other.endpoint_url) other.id, true as "isActive"
    from webhooks w join webhooks other on other.recipient_id = w.recipient_id
    where w.id = ${webhookId} and other.state = 'active' and other.endpoint_url <> ${endpointUrl}
    order by other.endpoint_url, other.created_at, other.id`;
}
