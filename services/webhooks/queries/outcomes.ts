import type { DisabledReason } from "@pragma/contracts/webhook";
import type { Sql, Transaction } from "@pragma/runtime/postgres";
import type { Verdict } from "../judge-attempt.ts";
import type { Claim } from "./claims.ts";

/** An attempt that was made, and what came of it. */
export interface Outcome extends Claim, Verdict {
  startedAt: Date;
  endedAt: Date;
  milliseconds: number;
  status: number | null;
  response: string | null;
  /** Of the attempt (W3C). */
  traceparent: string;
}

/**
 * Logs attempts, moves their deliveries on, counts them, and notes the endpoints that work, in one statement. An
 * attempt that was taken for interrupted in the meantime is corrected; if it succeeded, so has the delivery, unless it
 * was made again on request. One that failed while its delivery was recovered is the last of its generation.
 */
export async function recordAttempts(
  sql: Sql | Transaction,
  { outcomes, working }: { outcomes: Outcome[]; working: string[] },
): Promise<void> {
  const column = columnOf(outcomes);
  const hours = countByHour(outcomes);
  const hour = columnOf(hours);
  const isMadeAgain = sql`(d.again and made.state <> 'succeeded')`;
  await sql`
    with made as (
      select given.* from unnest(
        ${column("deliveryId")}::uuid[], ${column("generation")}::int[], ${column("attempt")}::int[],
        ${column("startedAt")}::timestamptz[], ${column("endedAt")}::timestamptz[], ${column("milliseconds")}::int[],
        ${column("status")}::int[], ${column("error")}::text[], ${column("response")}::text[],
        ${column("nextAttemptAt")}::timestamptz[], ${column("state")}::text[]
      ) as given (
        id, generation, number, started_at, ended_at, milliseconds, status, error, response, next_attempt_at, state
      )
    ), logged as (
      insert into attempts (
        delivery_id, generation, number, started_at, milliseconds, status, error, response, next_attempt_at
      )
      select id, generation, number, started_at, milliseconds, status, error, response, next_attempt_at from made
      on conflict (delivery_id, generation, number) do update set
        started_at = excluded.started_at, milliseconds = excluded.milliseconds, status = excluded.status,
        error = excluded.error, response = excluded.response
    ), counted as (
      insert into webhook_hours (webhook_id, hour, succeeded, failed, milliseconds, last_succeeded_at, last_failed_at)
      select given.* from unnest(
        ${hour("webhookId")}::uuid[], ${hour("hour")}::timestamptz[], ${hour("succeeded")}::int[],
        ${hour("failed")}::int[], ${hour("milliseconds")}::bigint[], ${hour("lastSucceededAt")}::timestamptz[],
        ${hour("lastFailedAt")}::timestamptz[]
      ) as given (webhook_id)
      join webhooks on webhooks.id = given.webhook_id
      on conflict (webhook_id, hour) do update set
        succeeded = webhook_hours.succeeded + excluded.succeeded,
        failed = webhook_hours.failed + excluded.failed,
        milliseconds = webhook_hours.milliseconds + excluded.milliseconds,
        last_succeeded_at = greatest(webhook_hours.last_succeeded_at, excluded.last_succeeded_at),
        last_failed_at = greatest(webhook_hours.last_failed_at, excluded.last_failed_at)
    ), working as (
      update webhooks set failing_since = null, last_error = null, warned_at = null
      where id = any(${working}::uuid[]) and failing_since is not null
    )
    update deliveries d set
      state = case when ${isMadeAgain} then 'pending' else made.state end, again = false,
      due_at = case when ${isMadeAgain} then made.ended_at else made.next_attempt_at end,
      generation = d.generation + ${isMadeAgain}::int,
      attempt = case when ${isMadeAgain} then 1 else d.attempt + (made.state = 'pending')::int end,
      failures = case when ${isMadeAgain} then 0 else d.failures + (made.error is not null)::int end,
      settled_at = case when made.state <> 'pending' then made.ended_at else d.settled_at end
    from made
    where d.id = made.id and d.generation = made.generation and (
      (d.state = 'sending' and d.attempt = made.number)
      or (made.state = 'succeeded' and d.state in ('pending', 'sending'))
    )`;
}

/** One column of rows, as an array that PostgreSQL takes: the client knows no arrays of dates. */
function columnOf<Row>(rows: readonly Row[]) {
  return <Name extends keyof Row>(name: Name) =>
    rows.map((row): Exclude<Row[Name], Date> | string => {
      const value = row[name];
      return value instanceof Date ? value.toISOString() : (value as Exclude<Row[Name], Date>);
    });
}

interface HourCount {
  webhookId: string;
  hour: Date;
  succeeded: number;
  failed: number;
  milliseconds: number;
  lastSucceededAt: Date | null;
  lastFailedAt: Date | null;
}

const hourLength = 3_600_000;

/** In one order, so that batches which count for the same webhooks wait for one another in turn. */
function countByHour(outcomes: Outcome[]): HourCount[] {
  const counts = new Map<string, HourCount>();
  for (const { webhookId, endedAt, milliseconds, error } of outcomes) {
    const hour = Math.floor(endedAt.getTime() / hourLength) * hourLength;
    const key = `${webhookId} ${hour}`;
    const count = counts.get(key) ?? {
      webhookId,
      hour: new Date(hour),
      succeeded: 0,
      failed: 0,
      milliseconds: 0,
      lastSucceededAt: null,
      lastFailedAt: null,
    };
    counts.set(key, count);
    count.milliseconds += milliseconds;
    if (error === null) {
      count.succeeded += 1;
      count.lastSucceededAt = endedAt;
    } else {
      count.failed += 1;
      count.lastFailedAt = endedAt;
    }
  }
  return [...counts].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, count]) => count);
}

/** The failures of an endpoint, seen together. */
export interface Failing {
  webhookId: string;
  /** When the first of them failed. */
  since: Date;
  /** How many succeeded before that in the same batch: if any did, nothing from earlier counts. */
  successesBefore: number;
  lastError: string;
}

/** An endpoint whose latest attempt failed. */
export interface FailingWebhook {
  id: string;
  locationId: string;
  endpointUrl: string;
  failingSince: Date;
  warnedAt: Date | null;
  lastError: string;
}

/** Notes failures, and gives those of the endpoints that are still sent to; they stay locked. */
export async function noteFailing(tx: Transaction, failings: Failing[]): Promise<FailingWebhook[]> {
  const column = columnOf(failings);
  return tx<FailingWebhook[]>`
    update webhooks w set
      failing_since = case when given.successes > 0 then given.since else coalesce(w.failing_since, given.since) end,
      warned_at = case when given.successes = 0 then w.warned_at end,
      last_error = given.error
    from unnest(
      ${column("webhookId")}::uuid[], ${column("since")}::timestamptz[], ${column("successesBefore")}::int[],
      ${column("lastError")}::text[]
    ) as given (id, since, successes, error)
    where w.id = given.id and w.state = 'active'
    returning
      w.id, w.location_id as "locationId", w.endpoint_url as "endpointUrl", w.failing_since as "failingSince",
      w.warned_at as "warnedAt", w.last_error as "lastError"`;
}

export async function disableWebhook(
  tx: Transaction,
  { id, reason, now }: { id: string; reason: DisabledReason; now: Date },
): Promise<void> {
  await tx`
    update webhooks set state = 'disabled', disabled_reason = ${reason}, revision = revision + 1, updated_at = ${now}
    where id = ${id}`;
}

export async function noteWarned(tx: Transaction, id: string, now: Date): Promise<void> {
  await tx`update webhooks set warned_at = ${now} where id = ${id}`;
}
