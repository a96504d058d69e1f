import type { SqlClient, SqlFragment, SqlTransaction } from "@pragma/runtime/database/postgres";
import { type PageOfJsonItems, type PageRange, toCreatedAtCursor } from "@pragma/runtime/http/page-response";
import { type WebhookDeliveryRow, webhookDeliveryColumns } from "./deliveries.ts";

interface DeliverySelection {
  locationId: string;
  /** Undefined for all webhooks of the location. */
  webhookId: string | undefined;
  /** The condition for the selected rows of `webhook_deliveries`. */
  matches: SqlFragment;
}

/** Selects the ids of the webhooks. Each of them has an index of its deliveries; the location has none. */
const webhooksOfLocation = (sql: SqlClient | SqlTransaction, { locationId, webhookId }: DeliverySelection) => sql`
  select id as webhook_id from webhooks
  where location_id = ${locationId} and state <> 'deleted'
    and ${webhookId === undefined ? sql`true` : sql`id = ${webhookId}`}`;

const ofWebhook = (sql: SqlClient | SqlTransaction, { locationId, matches }: DeliverySelection) => sql`
  location_id = ${locationId} and webhook_deliveries.webhook_id = w.webhook_id and ${matches}`;

/** Returns a page of the deliveries to the webhooks of a location, newest first. */
export async function listDeliveriesOfLocation(
  sql: SqlClient,
  selection: DeliverySelection,
  { after, offset, limit }: PageRange,
): Promise<PageOfJsonItems<{ at: string; id: string }>> {
  const isAfter = after ? sql`(created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql`true`;
  const webhooks = sql`(${webhooksOfLocation(sql, selection)}) as w`;
  const [rows, [counted]] = await Promise.all([
    // Reads one row more than the page needs, to find out whether another page follows.
    sql<WebhookDeliveryRow[]>`
      select ${webhookDeliveryColumns(sql)}
      from ${webhooks} cross join lateral (
        select * from webhook_deliveries where ${ofWebhook(sql, selection)} and ${isAfter}
        order by created_at desc, id desc limit ${offset + limit + 1}
      ) as d
      order by d.created_at desc, d.id desc offset ${offset} limit ${limit + 1}`,
    sql<[{ total: number }]>`
      select coalesce(sum(count), 0)::bigint as total
      from ${webhooks} cross join lateral (
        select count(*) from webhook_deliveries where ${ofWebhook(sql, selection)}
      ) as counted`,
  ]);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    items: rows.slice(0, limit).map((row) => JSON.stringify(row)),
    total: counted.total,
    last: last ? toCreatedAtCursor(last) : null,
  };
}

interface RequeueOptions {
  /** The last delivery of the previous request. */
  after: { at: string; id: string } | null;
  limit: number;
  now: Date;
}

/**
 * Requeues the oldest of the selected deliveries after a position, as the first attempt of a new generation. Deliveries with
 * an attempt in flight and test messages are left out. Returns the webhooks whose deliveries have become due, and the position
 * of the last of them if deliveries remain.
 */
export async function requeueDeliveries(
  tx: SqlTransaction,
  selection: DeliverySelection,
  { after, limit, now }: RequeueOptions,
) {
  const isAfter = (position: RequeueOptions["after"]) =>
    position ? tx`(created_at, id) > (${position.at}::timestamptz, ${position.id}::uuid)` : tx`true`;
  const selected = tx`${ofWebhook(tx, selection)} and event <> 'test' and state <> 'sending'`;
  const webhooks = tx`(${webhooksOfLocation(tx, selection)}) as w`;
  const requeued = await tx<{ webhookId: string; id: string; createdAt: Date }[]>`
    with requeued as (
      update webhook_deliveries set
        state = 'pending', generation = generation + 1, attempt = 1, failures = 0, due_at = ${now}
      where location_id = ${selection.locationId} and id in (
        select d.id from ${webhooks} cross join lateral (
          select id, created_at from webhook_deliveries where ${selected} and ${isAfter(after)}
          order by created_at, id limit ${limit}
        ) as d
        order by d.created_at, d.id limit ${limit}
      ) and state <> 'sending'
      returning webhook_id, id, created_at
    )
    select * from requeued order by created_at, id`;
  const last = requeued.at(-1);
  const lastPosition = last ? toCreatedAtCursor(last) : null;
  const [remaining] = await tx<[{ count: number }]>`
    select coalesce(sum(count), 0)::bigint as count
    from ${webhooks} cross join lateral (
      select count(*) from webhook_deliveries where ${selected} and ${isAfter(lastPosition ?? after)}
    ) as counted`;
  return {
    replayedCount: requeued.length,
    remainingCount: last ? remaining.count : 0,
    next: last && remaining.count > 0 ? lastPosition : null,
    webhookIds: [...new Set(requeued.map(({ webhookId }) => webhookId))],
  };
}
