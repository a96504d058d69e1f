import type { WebhookEventName } from "@pragma/contracts/webhook";
import { type SqlClient, type SqlFragment, toRecordsetParameter } from "@pragma/runtime/database/postgres";
import { getMessageDay } from "./deliveries.ts";

export interface WebhookDeliveryClaim {
  locationId: string;
  deliveryId: string;
  generation: number;
  attempt: number;
  webhookId: string;
  revision: number;
  messageId: string;
  /** When the delivery and its message were created. The day determines the partition of the message and of attempts. */
  createdAt: Date;
  event: WebhookEventName;
  /** Number of attempts of this generation that have failed. */
  failures: number;
  /** The body of the message. Claims of the same message share one buffer, to save memory. */
  body: Uint8Array;
  traceparent: string | null;
  /** When the lease expires. This process is then presumed dead, and another process may claim the delivery. */
  leaseExpiresAt: Date;
}

interface ClaimLease {
  now: Date;
  /** When the lease expires. The process that claimed the delivery is then presumed dead. */
  expiresAt: Date;
}

/**
 * Claims the deliveries that the query `due` returns (`location_id`, `id`, `due_at`), if their webhooks have one of these
 * states. Then reads their messages. If that fails, the deliveries become due again when the lease expires.
 */
async function claimDeliveries(
  sql: SqlClient,
  { due, states, expiresAt }: { due: SqlFragment; states: string[]; expiresAt: Date },
): Promise<WebhookDeliveryClaim[]> {
  const claims = await sql<Omit<WebhookDeliveryClaim, "body" | "traceparent" | "leaseExpiresAt">[]>`
    with due as (${due}), claimed as (
      update webhook_deliveries d set state = 'sending', due_at = ${expiresAt}
      from due, webhooks w
      where d.id = due.id and d.location_id = due.location_id
        and w.location_id = due.location_id and w.id = d.webhook_id and w.state = any(${states})
      returning
        w.location_id, d.id as delivery_id, d.generation, d.attempt, d.failures, d.event, d.message_id, d.created_at,
        d.webhook_id, w.revision, due.due_at as due_since
    )
    select
      location_id, delivery_id, generation, attempt, failures, event, message_id, created_at, webhook_id, revision
    from claimed order by due_since`;
  const messages = await findMessages(sql, claims);
  return claims.flatMap((claim) => {
    const message = messages.get(claim.messageId);
    // The retention removes a message only together with its deliveries.
    return message ? [{ ...claim, ...message, leaseExpiresAt: expiresAt }] : [];
  });
}

/** Returns the messages of claims by id. Reads only the partitions of the days on which these messages were created. */
async function findMessages(
  sql: SqlClient,
  claims: Pick<WebhookDeliveryClaim, "locationId" | "messageId" | "createdAt">[],
): Promise<Map<string, Pick<WebhookDeliveryClaim, "body" | "traceparent">>> {
  if (claims.length === 0) return new Map();
  const keys = [...new Map(claims.map((claim) => [claim.messageId, claim])).values()];
  const days = keys.map(({ createdAt }) => getMessageDay(createdAt));
  const rows = await sql`
    select m.id, m.body, m.traceparent
    from unnest(
      ${keys.map(({ locationId }) => locationId)}::uuid[], ${keys.map(({ messageId }) => messageId)}::uuid[],
      ${days}::date[]
    ) as key (location_id, id, created_on)
    join webhook_messages m using (location_id, id, created_on)
    -- The join alone would let PostgreSQL open all partitions.
    where m.created_on = any(${[...new Set(days)]}::date[])`.raw();
  // The bytes are sent as they are stored. They are copied, so that one body does not keep those of the whole batch in memory.
  return new Map(
    rows.map(([id, body, traceparent]) => [
      String(id),
      { body: Buffer.from(body as Buffer), traceparent: traceparent ? String(traceparent) : null },
    ]),
  );
}

export interface WebhookDeliveryClaimRequest {
  locationId: string;
  webhookId: string;
  max: number;
}

/**
 * Claims due deliveries of these webhooks, except test messages, which have a limit per location of their own. For each
 * webhook, claims the deliveries that have been due longest.
 */
export async function claimDueWebhookDeliveries(
  sql: SqlClient,
  claimRequests: WebhookDeliveryClaimRequest[],
  { now, expiresAt }: ClaimLease,
): Promise<WebhookDeliveryClaim[]> {
  const due = sql`
    select request.location_id, due.*
    from jsonb_to_recordset(${toRecordsetParameter(sql, claimRequests)})
      as request (location_id uuid, webhook_id uuid, max int)
    cross join lateral (
      select id, due_at from webhook_deliveries
      where location_id = request.location_id and webhook_id = request.webhook_id and state = 'pending' and event <> 'test'
        and due_at <= ${now}
      order by due_at limit request.max
      for no key update skip locked
    ) due`;
  return claimDeliveries(sql, { due, states: ["active"], expiresAt });
}

/** Maximum number of test messages in flight per location, so that slow endpoints do not delay other locations. */
const maxTestsPerLocation = 5;

/** Returns whether a test message waits, now or later, or is being sent. */
export async function hasUnsettledTestDelivery(sql: SqlClient): Promise<boolean> {
  // Two conditions, because each has an index of its own.
  const [row] = await sql<[{ isUnsettled: boolean }]>`
    select exists (select from webhook_deliveries where state = 'pending' and event = 'test')
      or exists (select from webhook_deliveries where state = 'sending' and event = 'test') as is_unsettled`;
  return row.isUnsettled;
}

/** Claims due test messages, even of paused or disabled webhooks. Test messages do not queue behind others. */
export async function claimWebhookTestDeliveries(
  sql: SqlClient,
  limit: number,
  { now, expiresAt }: ClaimLease,
): Promise<WebhookDeliveryClaim[]> {
  // This statement is repeated all the time, and takes a fiftieth of the time of the claim.
  const [first] = await sql`
    select from webhook_deliveries where state = 'pending' and event = 'test' and due_at <= ${now} limit 1`;
  if (!first) return [];
  const ofWebhook = sql`w.id = d.webhook_id and d.location_id = w.location_id`;
  const due = sql`
    with waiting as (
      select d.id, w.location_id, row_number() over (partition by w.location_id order by d.due_at) as row_number
      from webhook_deliveries d join webhooks w on ${ofWebhook}
      where d.state = 'pending' and d.event = 'test' and d.due_at <= ${now}
    ), sending as (
      select w.location_id, count(*) from webhook_deliveries d join webhooks w on ${ofWebhook}
      where d.state = 'sending' and d.event = 'test' group by w.location_id
    )
    select allowed.location_id, d.id, d.due_at
    from (
      select location_id, id from waiting left join sending using (location_id)
      where row_number + coalesce(count, 0) <= ${maxTestsPerLocation}
    ) allowed
    join webhook_deliveries d on d.id = allowed.id and d.location_id = allowed.location_id
    where d.state = 'pending'
    order by d.due_at limit ${limit}
    for no key update of d skip locked`;
  return claimDeliveries(sql, { due, states: ["active", "paused", "disabled"], expiresAt });
}

/**
 * Returns the SQL assignments that requeue a delivery whose claim ended without a result. `attempts` is added to the
 * attempt number. If a recovery of the delivery was requested in the meantime, a new generation starts.
 */
const requeueAssignments = (sql: SqlClient, { attempts }: { attempts: number }) => sql`
  state = 'pending', retry_requested = false, generation = d.generation + d.retry_requested::int,
  attempt = case when d.retry_requested then 1 else d.attempt + ${attempts}::int end,
  failures = case when d.retry_requested then 0 else d.failures end`;

/** A claim whose delivery was not attempted, and the time when the delivery is due again. */
export type ReleasedWebhookDeliveryClaim = WebhookDeliveryClaim & { dueAt: Date };

export async function releaseWebhookDeliveryClaims(
  sql: SqlClient,
  released: ReleasedWebhookDeliveryClaim[],
): Promise<undefined> {
  const rows = released.map(({ locationId, deliveryId, generation, attempt, dueAt }) => {
    return { locationId, deliveryId, generation, attempt, dueAt };
  });
  await sql`
    update webhook_deliveries d set ${requeueAssignments(sql, { attempts: 0 })}, due_at = input.due_at
    from jsonb_to_recordset(${toRecordsetParameter(sql, rows)})
      as input (location_id uuid, delivery_id uuid, generation int, attempt int, due_at timestamptz)
    where d.location_id = input.location_id and d.id = input.delivery_id
      and d.generation = input.generation and d.attempt = input.attempt and d.state = 'sending'`;
}

const interruptedError = "The attempt was interrupted. The endpoint may have received the message.";

/** Returns when the next lease expires, and when the next message that is not a test is due. Null if there is none. */
export async function findNextDueTimes(
  sql: SqlClient,
): Promise<{ leaseExpiresAt: Date | null; pendingDueAt: Date | null }> {
  const [times] = await sql<[{ leaseExpiresAt: Date | null; pendingDueAt: Date | null }]>`
    select
      (select min(due_at) from webhook_deliveries where state = 'sending') as lease_expires_at,
      (
        select min(first.due_at) from webhooks w, lateral (
          select due_at from webhook_deliveries d
          where d.location_id = w.location_id and d.webhook_id = w.id and d.state = 'pending' and d.event <> 'test'
          order by due_at limit 1
        ) as first where w.state = 'active'
      ) as pending_due_at`;
  return times;
}

export async function listWebhooksWithOverdueDeliveries(sql: SqlClient, overdueSince: Date): Promise<string[]> {
  const webhooks = await sql<{ id: string }[]>`
    select id from webhooks w
    where state = 'active' and exists (
      select from webhook_deliveries d
      where d.location_id = w.location_id and d.webhook_id = w.id and d.state = 'pending' and d.event <> 'test'
        and d.due_at <= ${overdueSince}
    )`;
  return webhooks.map(({ id }) => id);
}

/**
 * Requeues up to `limit` deliveries whose lease has expired, and logs their attempts with an unknown result. Such an
 * attempt does not count as a failure. `leaseMs` is the duration of a lease.
 *
 * @returns how many deliveries were requeued.
 */
export async function releaseExpiredClaims(
  sql: SqlClient,
  { now, leaseMs, limit }: { now: Date; leaseMs: number; limit: number },
): Promise<number> {
  const expired = await sql`
    with expired as (
      select w.location_id, d.id, d.created_at, d.generation, d.attempt, d.due_at
      from webhook_deliveries d join webhooks w on w.id = d.webhook_id and w.location_id = d.location_id
      where d.state = 'sending' and d.due_at <= ${now}
      limit ${limit} for no key update of d skip locked
    ), logged as (
      insert into attempts (
        location_id, delivery_id, created_on, generation, number, started_at, error, next_attempt_at
      )
      select
        location_id, id, (created_at at time zone 'UTC')::date, generation, attempt,
        due_at - make_interval(secs => ${leaseMs / 1_000}), ${interruptedError}, ${now}
      from expired
      on conflict do nothing
    )
    update webhook_deliveries d set ${requeueAssignments(sql, { attempts: 1 })}, due_at = ${now}
    from expired where d.location_id = expired.location_id and d.id = expired.id
    returning d.id`;
  return expired.count;
}
