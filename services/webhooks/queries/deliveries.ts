import type { Attempt, Delivery, DeliveryState } from "@pragma/contracts/delivery";
import type { SentEvent } from "@pragma/contracts/webhook";
import type { Sql, Transaction } from "@pragma/runtime/postgres";
import type { PageRange } from "@pragma/runtime/reply-with-page";

type DeliveryDates = "createdAt" | "nextAttemptAt" | "settledAt";

/** A delivery as replies show it, with dates. */
export type DeliveryRow = Omit<Delivery, DeliveryDates> & {
  createdAt: Date;
  nextAttemptAt: Date | null;
  settledAt: Date | null;
};

const shown = (sql: Sql | Transaction) => sql`
  d.id, d.created_at as "createdAt", d.webhook_id as "webhookId", d.message_id as "messageId", d.event, d.state,
  case when d.state = 'pending' then d.due_at end as "nextAttemptAt", d.settled_at as "settledAt"`;

export interface DeliveryFilter {
  webhookId: string;
  event?: SentEvent | undefined;
  state?: DeliveryState | undefined;
  /** Both included. */
  since?: DayOrInstant | undefined;
  until?: DayOrInstant | undefined;
  /** In which days are meant. */
  timeZone: string;
}

type DayOrInstant = { day: string } | { instant: string };

/** A page of a webhook's deliveries, newest first, and how many there are. */
export async function listDeliveries(
  sql: Sql,
  { webhookId, event, state, since, until, timeZone }: DeliveryFilter,
  { after, offset, limit }: PageRange,
): Promise<{ rows: DeliveryRow[]; total: number }> {
  const dayStart = (day: string, later: number) =>
    sql`((${day}::date + ${later}::int)::timestamp at time zone ${timeZone})`;
  const startOf = (since: DayOrInstant) =>
    "day" in since ? dayStart(since.day, 0) : sql`${since.instant}::timestamptz`;
  const isListed = sql`
    d.webhook_id = ${webhookId}
    ${event === undefined ? sql`` : sql`and d.event = ${event}`}
    ${state === undefined ? sql`` : sql`and d.state = ${state}`}
    ${since === undefined ? sql`` : sql`and d.created_at >= ${startOf(since)}`}
    ${until === undefined ? sql`` : "day" in until ? sql`and d.created_at < ${dayStart(until.day, 1)}` : sql`and d.created_at <= ${until.instant}::timestamptz`}`;
  const isAfter = after ? sql`(d.created_at, d.id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql`true`;
  const [rows, [counted]] = await Promise.all([
    sql<DeliveryRow[]>`
      select ${shown(sql)} from deliveries d where ${isListed} and ${isAfter}
      order by d.created_at desc, d.id desc offset ${offset} limit ${limit}`,
    sql<[{ total: number }]>`select count(*) as total from deliveries d where ${isListed}`,
  ]);
  return { rows, total: counted.total };
}

interface DeliveryOf {
  id: string;
  /** Null: of any location. */
  locationId: string | null;
}

const isOf = (sql: Sql | Transaction, { id, locationId }: DeliveryOf) => sql`
  d.id = ${id} and w.id = d.webhook_id and w.state <> 'deleted'
  and ${locationId === null ? sql`true` : sql`w.location_id = ${locationId}`}`;

/** A delivery with the text that is sent. */
export async function findDelivery(sql: Sql, which: DeliveryOf): Promise<(DeliveryRow & { body: string }) | undefined> {
  const [row] = await sql<(DeliveryRow & { body: string })[]>`
    select ${shown(sql)}, m.body from deliveries d, webhooks w, messages m
    where ${isOf(sql, which)} and m.id = d.message_id`;
  return row;
}

export async function isDeliveryThere(sql: Sql | Transaction, which: DeliveryOf): Promise<boolean> {
  const rows = await sql`select 1 from deliveries d, webhooks w where ${isOf(sql, which)}`;
  return rows.length > 0;
}

/** An attempt as replies show it, with dates. */
export type AttemptRow = Omit<Attempt, "startedAt" | "nextAttemptAt"> & { startedAt: Date; nextAttemptAt: Date | null };

/**
 * The attempts of a delivery, in order, also the one under way: the last thousand. `claimedFor` is how long a claim
 * lasts, in milliseconds: an attempt begins when its delivery is claimed.
 */
export async function findAttempts(
  sql: Sql,
  { deliveryId, claimedFor }: { deliveryId: string; claimedFor: number },
): Promise<AttemptRow[]> {
  return sql<AttemptRow[]>`
    select * from (
      select
        generation, number, started_at as "startedAt", milliseconds, status, error, response,
        next_attempt_at as "nextAttemptAt"
      from attempts where delivery_id = ${deliveryId}
      union all
      select
        generation, attempt, due_at - make_interval(secs => ${claimedFor / 1_000}), null, null, null, null, null
      from deliveries where id = ${deliveryId} and state = 'sending'
      order by generation desc, number desc limit 1000
    ) latest order by generation, number`;
}

/** Has a delivery made again from now, from its first attempt, unless one is under way: then undefined. */
export async function makeAgain(tx: Transaction, which: DeliveryOf, now: Date): Promise<DeliveryRow | undefined> {
  const [row] = await tx<DeliveryRow[]>`
    update deliveries d set
      state = 'pending', generation = d.generation + 1, attempt = 1, failures = 0, due_at = ${now}
    from webhooks w
    where ${isOf(tx, which)} and d.state <> 'sending'
    returning ${shown(tx)}`;
  return row;
}
