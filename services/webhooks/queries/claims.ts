import type { WebhookEventName } from "@pragma/contracts/webhook";
import { type SqlClient, type SqlFragment, toRecordsetParameter } from "@pragma/runtime/database/postgres";

/** A delivery whose next attempt this process has claimed. */
export interface WebhookDeliveryClaim {
  deliveryId: string;
  generation: number;
  attempt: number;
  webhookId: string;
  /** The revision of the webhook at the time of the claim. */
  revision: number;
  messageId: string;
  event: WebhookEventName;
  /** Number of attempts of this generation that have failed. */
  failures: number;
  /** The body of the message. Claims of the same message in one query share one buffer, to save memory. */
  body: Uint8Array;
  /** The W3C trace context of the event. */
  traceparent: string | null;
  /** When the lease expires. This process is then presumed dead, and another process may claim the delivery. */
  leaseExpiresAt: Date;
}

interface ClaimLease {
  now: Date;
  /** When the lease expires. The process that claimed the delivery is then presumed dead. */
  expiresAt: Date;
}

/** Claims the deliveries that the query `due` returns (`id`, `due_at`), if their webhooks have one of these states. */
async function claimDeliveries(
  sql: SqlClient,
  { expiresAt }: ClaimLease,
  due: SqlFragment,
  states: string[],
): Promise<WebhookDeliveryClaim[]> {
  const claimed = await sql<(Omit<WebhookDeliveryClaim, "body" | "leaseExpiresAt"> & { body: string | null })[]>`
    with due as (${due}), claimed as (
      update deliveries d set state = 'sending', due_at = ${expiresAt}
      from due, webhooks w
      where d.id = due.id and w.id = d.webhook_id and w.state = any(${states})
      returning
        d.id as delivery_id, d.generation, d.attempt, d.failures, d.event, d.message_id, d.webhook_id, w.revision,
        due.due_at as due_since
    )
    select
      delivery_id, generation, attempt, failures, event, message_id, webhook_id, revision, traceparent,
      -- Only one row per message contains the body, because it costs more to transfer than all other columns.
      case when row_number() over (partition by message_id) = 1 then body end as body
    from claimed join messages m on m.id = message_id
    order by due_since`;
  const bodies = new Map<string, Uint8Array>();
  for (const { messageId, body } of claimed) if (body !== null) bodies.set(messageId, Buffer.from(body));
  return claimed.map((row) => ({ ...row, body: bodies.get(row.messageId) as Uint8Array, leaseExpiresAt: expiresAt }));
}

/** A request to claim up to `max` deliveries of a webhook. */
export interface WebhookDeliveryClaimRequest {
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
  lease: ClaimLease,
): Promise<WebhookDeliveryClaim[]> {
  const due = sql`
    select due.*
    from jsonb_to_recordset(${toRecordsetParameter(sql, claimRequests)}) as request (webhook_id uuid, max int)
    cross join lateral (
      select id, due_at from deliveries
      where webhook_id = request.webhook_id and state = 'pending' and event <> 'test' and due_at <= ${lease.now}
      order by due_at limit request.max
      for update skip locked
    ) due`;
  return claimDeliveries(sql, lease, due, ["active"]);
}

/** Maximum number of test messages in flight per location, so that slow endpoints do not delay other locations. */
const maxTestsPerLocation = 5;

/** Claims due test messages, even of paused or disabled webhooks. Test messages do not queue behind others. */
export async function claimWebhookTestDeliveries(
  sql: SqlClient,
  limit: number,
  lease: ClaimLease,
): Promise<WebhookDeliveryClaim[]> {
  const due = sql`
    with waiting as (
      select d.id, w.location_id, row_number() over (partition by w.location_id order by d.due_at) as row_number
      from deliveries d join webhooks w on w.id = d.webhook_id
      where d.state = 'pending' and d.event = 'test' and d.due_at <= ${lease.now}
    ), sending as (
      select w.location_id, count(*) from deliveries d join webhooks w on w.id = d.webhook_id
      where d.state = 'sending' and d.event = 'test' group by w.location_id
    )
    select id, due_at from deliveries
    where state = 'pending' and id in (
      select id from waiting left join sending using (location_id)
      where row_number + coalesce(count, 0) <= ${maxTestsPerLocation}
    )
    order by due_at limit ${limit}
    for update skip locked`;
  return claimDeliveries(sql, lease, due, ["active", "paused", "disabled"]);
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

/** Releases claims whose deliveries were not attempted. */
export async function releaseWebhookDeliveryClaims(
  sql: SqlClient,
  released: ReleasedWebhookDeliveryClaim[],
): Promise<undefined> {
  const rows = released.map(({ deliveryId, generation, attempt, dueAt }) => ({
    deliveryId,
    generation,
    attempt,
    dueAt,
  }));
  await sql`
    update deliveries d set ${requeueAssignments(sql, { attempts: 0 })}, due_at = input.due_at
    from jsonb_to_recordset(${toRecordsetParameter(sql, rows)})
      as input (delivery_id uuid, generation int, attempt int, due_at timestamptz)
    where d.id = input.delivery_id and d.generation = input.generation and d.attempt = input.attempt
      and d.state = 'sending'`;
}

/**
 * Requeues up to `limit` deliveries whose lease has expired, and logs their attempts with an unknown result. Such an
 * attempt does not count as a failure. `leaseMs` is the duration of a lease.
 *
 * @returns how many deliveries were requeued.
 */
export async function releaseExpiredWebhookDeliveryClaims(
  sql: SqlClient,
  { now, leaseMs, limit }: { now: Date; leaseMs: number; limit: number },
): Promise<number> {
  const expired = await sql`
    with expired as (
      select id, generation, attempt, due_at from deliveries
      where state = 'sending' and due_at <= ${now}
      limit ${limit} for update skip locked
    ), logged as (
      insert into attempts (delivery_id, generation, number, started_at, error, next_attempt_at)
      select id, generation, attempt, due_at - make_interval(secs => ${leaseMs / 1_000}), ${interruptedError}, ${now}
      from expired
      on conflict do nothing
    )
    update deliveries d set ${requeueAssignments(sql, { attempts: 1 })}, due_at = ${now}
    from expired where d.id = expired.id
    returning d.id`;
  return expired.count;
}

const interruptedError = "The attempt was interrupted. The endpoint may have received the message.";
