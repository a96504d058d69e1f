import type { Attempt, Delivery, DeliveryState } from "@pragma/contracts/delivery";
import type { SentEvent } from "@pragma/contracts/webhook";
import type { Sql, Transaction } from "@pragma/runtime/postgres";
import type { PageRange } from "@pragma/runtime/reply-with-page";
import { type Dated, isOfLocation, listNewest, type Which } from "./rows.ts";

/** A delivery as replies show it, with dates. */
type DeliveryRow = Dated<Delivery, "createdAt" | "nextAttemptAt" | "settledAt">;

const shown = (sql: Sql | Transaction) => sql`
  d.id, d.created_at as "createdAt", d.webhook_id as "webhookId", d.message_id as "messageId", d.event, d.state,
  case when d.state = 'pending' then d.due_at end as "nextAttemptAt", d.settled_at as "settledAt"`;

interface DeliveryFilter {
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
export function listDeliveries(sql: Sql, filter: DeliveryFilter, range: PageRange) {
  const { webhookId, event, state, since, until, timeZone } = filter;
  const startOf = (end: DayOrInstant, daysLater = 0) =>
    "day" in end
      ? sql`((${end.day}::date + ${daysLater}::int)::timestamp at time zone ${timeZone})`
      : sql`${end.instant}::timestamptz`;
  const where = sql`
    webhook_id = ${webhookId}
    ${event === undefined ? sql`` : sql`and event = ${event}`}
    ${state === undefined ? sql`` : sql`and state = ${state}`}
    ${since === undefined ? sql`` : sql`and created_at >= ${startOf(since)}`}
    ${until === undefined ? sql`` : sql`and created_at ${"day" in until ? sql`<` : sql`<=`} ${startOf(until, 1)}`}`;
  return listNewest<DeliveryRow>(sql, { columns: shown(sql), table: sql`deliveries d`, where }, range);
}

/** Of a delivery `d` of a webhook `w`. */
const isThis = (sql: Sql | Transaction, which: Which) =>
  sql`d.id = ${which.id} and w.id = d.webhook_id and w.state <> 'deleted' and ${isOfLocation(sql, which)}`;

/** A delivery with the text that is sent. */
export async function findDelivery(sql: Sql, which: Which): Promise<(DeliveryRow & { body: string }) | undefined> {
  const [row] = await sql<(DeliveryRow & { body: string })[]>`
    select ${shown(sql)}, m.body from deliveries d, webhooks w, messages m
    where ${isThis(sql, which)} and m.id = d.message_id`;
  return row;
}

export async function isDeliveryThere(tx: Transaction, which: Which): Promise<boolean> {
  const rows = await tx`select from deliveries d, webhooks w where ${isThis(tx, which)}`;
  return rows.count > 0;
}

/** An attempt as replies show it, with dates. */
type AttemptRow = Dated<Attempt, "startedAt" | "nextAttemptAt">;

/**
 * The attempts of a delivery, in order, also the one under way: the last thousand. An attempt begins when its delivery
 * is claimed, which `leaseMs` tells.
 */
export async function findAttempts(
  sql: Sql,
  { deliveryId, leaseMs }: { deliveryId: string; leaseMs: number },
): Promise<AttemptRow[]> {
  return sql<AttemptRow[]>`
    select * from (
      select
        generation, number, started_at as "startedAt", milliseconds, status, error, response,
        next_attempt_at as "nextAttemptAt"
      from attempts where delivery_id = ${deliveryId}
      union all
      select
        generation, attempt, due_at - make_interval(secs => ${leaseMs / 1_000}), null, null, null, null, null
      from deliveries where id = ${deliveryId} and state = 'sending'
      order by generation desc, number desc limit 1000
    ) latest order by generation, number`;
}

/** Has a delivery made again from now, from its first attempt, unless one is under way: then undefined. */
export async function makeAgain(tx: Transaction, which: Which, now: Date): Promise<DeliveryRow | undefined> {
  const [row] = await tx<DeliveryRow[]>`
    update deliveries d set
      state = 'pending', generation = d.generation + 1, attempt = 1, failures = 0, due_at = ${now}
    from webhooks w
    where ${isThis(tx, which)} and d.state <> 'sending'
    returning ${shown(tx)}`;
  return row;
}
