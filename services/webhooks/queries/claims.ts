import type { WebhookEventName } from "@pragma/contracts/webhook";
import { type SqlClient, type SqlFragment, toRecordsetParameter } from "@pragma/runtime/database/postgres";

/** A delivery that this process has taken, to make the attempt that comes next. */
export interface DeliveryClaim {
  deliveryId: string;
  generation: number;
  attempt: number;
  webhookId: string;
  /** Of the webhook as it is now. */
  revision: number;
  messageId: string;
  event: WebhookEventName;
  /** How many attempts of this generation have failed. */
  failures: number;
  /** What is sent: the same bytes for all deliveries of a message. */
  body: Uint8Array;
  /** Of what the message tells of (W3C). */
  traceparent: string | null;
  /** When this process is presumed dead, and another makes the attempt. */
  leaseExpiresAt: Date;
}

interface ClaimLease {
  now: Date;
  /** When whoever claims is presumed dead. */
  expiresAt: Date;
}

/** Claims those of the deliveries that `due` selects, by `id` and `due_at`, whose webhook is in one of these states. */
async function claimDeliveries(
  sql: SqlClient,
  { expiresAt }: ClaimLease,
  due: SqlFragment,
  states: string[],
): Promise<DeliveryClaim[]> {
  const claimed = await sql<(Omit<DeliveryClaim, "body" | "leaseExpiresAt"> & { body: string | null })[]>`
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
      -- Once for all webhooks: to pass it on costs more than all else.
      case when row_number() over (partition by message_id) = 1 then body end as body
    from claimed join messages m on m.id = message_id
    order by due_since`;
  const bodies = new Map<string, Uint8Array>();
  for (const { messageId, body } of claimed) if (body !== null) bodies.set(messageId, Buffer.from(body));
  return claimed.map((row) => ({ ...row, body: bodies.get(row.messageId) as Uint8Array, leaseExpiresAt: expiresAt }));
}

/** How many deliveries of a webhook are wanted at most. */
export interface DeliveryClaimRequest {
  webhookId: string;
  max: number;
}

/** Claims what is due of these webhooks, each webhook's longest due first. */
export async function claimDueDeliveries(
  sql: SqlClient,
  claimRequests: DeliveryClaimRequest[],
  lease: ClaimLease,
): Promise<DeliveryClaim[]> {
  const due = sql`
    select due.*
    from jsonb_to_recordset(${toRecordsetParameter(sql, claimRequests)}) as pull (webhook_id uuid, max int)
    cross join lateral (
      select id, due_at from deliveries
      where webhook_id = pull.webhook_id and state = 'pending' and due_at <= ${lease.now}
      order by due_at limit pull.max
      for update skip locked
    ) due`;
  return claimDeliveries(sql, lease, due, ["active"]);
}

/** Test messages of a location that are under way at once: those to its slow endpoints keep no other's waiting. */
const maxTestsPerLocation = 5;

/** Claims test messages that are due, of paused and disabled webhooks too: they wait for no other message. */
export async function claimTestDeliveries(sql: SqlClient, limit: number, lease: ClaimLease): Promise<DeliveryClaim[]> {
  const due = sql`
    with waiting as (
      select d.id, w.location_id, row_number() over (partition by w.location_id order by d.due_at) as place
      from deliveries d join webhooks w on w.id = d.webhook_id
      where d.state = 'pending' and d.event = 'test' and d.due_at <= ${lease.now}
    ), sending as (
      select w.location_id, count(*) from deliveries d join webhooks w on w.id = d.webhook_id
      where d.state = 'sending' and d.event = 'test' group by w.location_id
    )
    select id, due_at from deliveries
    where state = 'pending' and id in (
      select id from waiting left join sending using (location_id)
      where place + coalesce(count, 0) <= ${maxTestsPerLocation}
    )
    order by due_at limit ${limit}
    for update skip locked`;
  return claimDeliveries(sql, lease, due, ["active", "paused", "disabled"]);
}

/**
 * A delivery whose claim ends without an outcome goes on after so many attempts: in another generation if it was
 * recovered meanwhile.
 */
const requeueAssignments = (sql: SqlClient, { attempts }: { attempts: number }) => sql`
  state = 'pending', again = false, generation = d.generation + d.again::int,
  attempt = case when d.again then 1 else d.attempt + ${attempts}::int end,
  failures = case when d.again then 0 else d.failures end`;

/** A claim whose attempt was not made, and when it is due again. */
export type ReleasedDeliveryClaim = DeliveryClaim & { dueAt: Date };

/** Gives claims back unused. */
export async function releaseDeliveryClaims(sql: SqlClient, released: ReleasedDeliveryClaim[]): Promise<undefined> {
  const rows = released.map(({ deliveryId, generation, attempt, dueAt }) => ({
    deliveryId,
    generation,
    attempt,
    dueAt,
  }));
  await sql`
    update deliveries d set ${requeueAssignments(sql, { attempts: 0 })}, due_at = given.due_at
    from jsonb_to_recordset(${toRecordsetParameter(sql, rows)})
      as given (delivery_id uuid, generation int, attempt int, due_at timestamptz)
    where d.id = given.delivery_id and d.generation = given.generation and d.attempt = given.attempt
      and d.state = 'sending'`;
}

/**
 * Takes deliveries back whose claim has lapsed, and logs the attempt that nobody knows the outcome of. It uses up none
 * of the delivery's attempts. `leaseMs` is how long a claim lasts.
 *
 * @returns how many there were; the next portion is asked for separately.
 */
export async function releaseExpiredDeliveryClaims(
  sql: SqlClient,
  { now, leaseMs, limit }: { now: Date; leaseMs: number; limit: number },
): Promise<number> {
  const expired = await sql`
    with lapsed as (
      select id, generation, attempt, due_at from deliveries
      where state = 'sending' and due_at <= ${now}
      limit ${limit} for update skip locked
    ), logged as (
      insert into attempts (delivery_id, generation, number, started_at, error, next_attempt_at)
      select id, generation, attempt, due_at - make_interval(secs => ${leaseMs / 1_000}), ${interruptedError}, ${now}
      from lapsed
      on conflict do nothing
    )
    update deliveries d set ${requeueAssignments(sql, { attempts: 1 })}, due_at = ${now}
    from lapsed where d.id = lapsed.id
    returning d.id`;
  return expired.count;
}

const interruptedError = "The attempt was interrupted: whether the message arrived is not known.";
