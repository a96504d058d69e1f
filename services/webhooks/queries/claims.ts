import type { SentEvent } from "@pragma/contracts/webhook";
import type { Sql } from "@pragma/runtime/postgres";

/** Which attempt of which delivery: what a job is about. */
export interface AttemptName {
  deliveryId: string;
  generation: number;
  attempt: number;
}

/** A delivery that this process has taken, to make the attempt that comes next. */
export interface Claim extends AttemptName {
  webhookId: string;
  /** Of the webhook as it is now. */
  revision: number;
  messageId: string;
  event: SentEvent;
  /** How many attempts of this generation have failed. */
  failures: number;
}

interface Claiming {
  now: Date;
  /** When whoever claims is presumed dead. */
  lapsesAt: Date;
}

const claim = (sql: Sql) => sql`
  d.id as "deliveryId", d.generation, d.attempt, d.failures, d.event, d.message_id as "messageId",
  d.webhook_id as "webhookId", w.revision`;

/** Takes those of these deliveries whose next attempt is the one named, and is due. */
export async function claimNamed(sql: Sql, names: AttemptName[], { now, lapsesAt }: Claiming): Promise<Claim[]> {
  return sql<Claim[]>`
    update deliveries d set state = 'sending', due_at = ${lapsesAt}
    from unnest(
      ${names.map(({ deliveryId }) => deliveryId)}::uuid[], ${names.map(({ generation }) => generation)}::int[],
      ${names.map(({ attempt }) => attempt)}::int[]
    ) as named (id, generation, attempt), webhooks w
    where d.id = named.id and d.generation = named.generation and d.attempt = named.attempt
      and d.state = 'pending' and d.due_at <= ${now}
      and w.id = d.webhook_id and (w.state = 'active' or (d.event = 'test' and w.state <> 'deleted'))
    returning ${claim(sql)}`;
}

/** How many deliveries of a webhook are wanted at most. */
export interface Pull {
  webhookId: string;
  limit: number;
}

/** Takes what is due of these webhooks, each webhook's longest due first. */
export async function claimDue(sql: Sql, pulls: Pull[], { now, lapsesAt }: Claiming): Promise<Claim[]> {
  return sql<Claim[]>`
    with due as (
      select due.id from unnest(
        ${pulls.map(({ webhookId }) => webhookId)}::uuid[], ${pulls.map(({ limit }) => limit)}::int[]
      ) as pull (webhook_id, most)
      cross join lateral (
        select id from deliveries
        where webhook_id = pull.webhook_id and state = 'pending' and due_at <= ${now}
        order by due_at limit pull.most
        for update skip locked
      ) due
    )
    update deliveries d set state = 'sending', due_at = ${lapsesAt}
    from due, webhooks w
    where d.id = due.id and w.id = d.webhook_id and w.state = 'active'
    returning ${claim(sql)}`;
}

/**
 * A delivery whose claim ends without an outcome goes on after so many attempts: in another generation if it was
 * recovered meanwhile.
 */
const goneOn = (sql: Sql, { attempts }: { attempts: number }) => sql`
  state = 'pending', again = false, generation = d.generation + d.again::int,
  attempt = case when d.again then 1 else d.attempt + ${attempts}::int end,
  failures = case when d.again then 0 else d.failures end`;

/** Gives a claim back unused: the attempt was not made. */
export async function releaseClaim(sql: Sql, { deliveryId, generation, attempt }: AttemptName, dueAt: Date) {
  await sql`
    update deliveries d set ${goneOn(sql, { attempts: 0 })}, due_at = ${dueAt}
    where id = ${deliveryId} and generation = ${generation} and attempt = ${attempt} and state = 'sending'`;
}

/**
 * Takes deliveries back whose claim has lapsed, and logs the attempt that nobody knows the outcome of. It uses up none
 * of the delivery's attempts. `claimedFor` is how long a claim lasts, in milliseconds.
 *
 * @returns how many there were; the next portion is asked for separately.
 */
export async function takeBackLapsed(
  sql: Sql,
  { now, claimedFor, limit }: { now: Date; claimedFor: number; limit: number },
): Promise<number> {
  const lapsed = await sql`
    with lapsed as (
      select id, generation, attempt, due_at from deliveries
      where state = 'sending' and due_at <= ${now}
      limit ${limit} for update skip locked
    ), logged as (
      insert into attempts (delivery_id, generation, number, started_at, error, next_attempt_at)
      select id, generation, attempt, due_at - make_interval(secs => ${claimedFor / 1_000}), ${interrupted}, ${now}
      from lapsed
      on conflict do nothing
    )
    update deliveries d set ${goneOn(sql, { attempts: 1 })}, due_at = ${now}
    from lapsed where d.id = lapsed.id
    returning d.id`;
  return lapsed.count;
}

const interrupted = "The attempt was interrupted: whether the message arrived is not known.";

/** Test messages that were due before a time and are still not taken, up to so many. */
export async function testsOverdue(sql: Sql, dueBefore: Date, limit: number): Promise<AttemptName[]> {
  return sql<AttemptName[]>`
    select d.id as "deliveryId", d.generation, d.attempt from deliveries d join webhooks w on w.id = d.webhook_id
    where d.state = 'pending' and d.event = 'test' and d.due_at <= ${dueBefore} and w.state <> 'deleted'
    order by d.due_at limit ${limit}`;
}

/** The webhooks that have deliveries which were due before a time and are still not taken. */
export async function webhooksOverdue(sql: Sql, dueBefore: Date): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from webhooks w
    where state = 'active' and exists (
      select 1 from deliveries where webhook_id = w.id and state = 'pending' and due_at <= ${dueBefore}
    )`;
  return rows.map(({ id }) => id);
}
