import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import type { WebhookAttemptEvaluation, WebhookPostResult } from "../deliveries/evaluate-attempt.ts";
import type { WebhookDeliveryClaim } from "./claims.ts";
import { getMessageDay } from "./deliveries.ts";

export interface CompletedWebhookAttempt {
  claim: WebhookDeliveryClaim;
  postResult: WebhookPostResult;
  /** The header webhook-signature of the request; null if none was sent. */
  signature: string | null;
  evaluation: WebhookAttemptEvaluation;
  startedAt: Date;
  endedAt: Date;
  milliseconds: number;
  context: ObservabilityContext;
}

/**
 * In one statement, inserts attempts, updates their deliveries and the hourly statistics, and clears the failures of
 * healthy endpoints. If an attempt was logged as interrupted in the meantime, its row is corrected, and its success also
 * makes the delivery succeed, unless a new generation has started. If an attempt failed and a recovery of its delivery was
 * requested in the meantime, a new generation of the delivery starts.
 */
export async function recordDeliveryAttemptResults(
  sql: SqlClient | SqlTransaction,
  { attempts, healthyWebhookIds }: { attempts: CompletedWebhookAttempt[]; healthyWebhookIds: string[] },
): Promise<void> {
  // With the names of the columns, because `toRecordsetParameter` would take longer than the rest of this function.
  const rows = attempts.map(({ claim, postResult, signature, evaluation, startedAt, endedAt, milliseconds }) => ({
    location_id: claim.locationId,
    delivery_id: claim.deliveryId,
    created_on: getMessageDay(claim.createdAt),
    webhook_id: claim.webhookId,
    generation: claim.generation,
    attempt: claim.attempt,
    state: evaluation.state,
    status: postResult.status,
    error: evaluation.error,
    response: postResult.status === null ? null : postResult.response,
    signature,
    started_at: startedAt.toISOString(),
    ended_at: endedAt.toISOString(),
    milliseconds,
    next_attempt_at: evaluation.nextAttemptAt?.toISOString() ?? null,
  }));
  const isRetryRequested = sql`(d.retry_requested and attempted.state <> 'succeeded')`;
  await sql`
    with attempted as (
      select * from jsonb_to_recordset(${sql.json(rows)}) as attempted (
        location_id uuid, delivery_id uuid, created_on date, webhook_id uuid, generation int, attempt int, state text,
        status int, error text, response text, signature text, started_at timestamptz, ended_at timestamptz, milliseconds int,
        next_attempt_at timestamptz
        -- The limit tells the query planner that there are only a few rows.
      ) limit ${rows.length}::int
    ), updated as (
      -- Before the attempts, so that the tables are locked in the same sequence as by a removal.
      update webhook_deliveries d set
        state = case when ${isRetryRequested} then 'pending' else attempted.state end, retry_requested = false,
        due_at = case when ${isRetryRequested} then attempted.ended_at else attempted.next_attempt_at end,
        generation = d.generation + ${isRetryRequested}::int,
        attempt = case when ${isRetryRequested} then 1 else d.attempt + (attempted.state = 'pending')::int end,
        failures = case when ${isRetryRequested} then 0 else d.failures + (attempted.error is not null)::int end,
        settled_at = case when attempted.state <> 'pending' then attempted.ended_at else d.settled_at end
      from attempted
      where d.location_id = attempted.location_id and d.id = attempted.delivery_id
        and d.generation = attempted.generation and (
          (d.state = 'sending' and d.attempt = attempted.attempt)
          or (attempted.state = 'succeeded' and d.state in ('pending', 'sending'))
        )
    ), logged as (
      insert into attempts (
        location_id, delivery_id, created_on, generation, number, started_at, milliseconds, status, error, response,
        signature, next_attempt_at
      )
      select
        location_id, delivery_id, created_on, generation, attempt, started_at, milliseconds, status, error, response,
        signature, next_attempt_at
      from attempted
      -- The attempt was logged as interrupted.
      on conflict (location_id, delivery_id, created_on, generation, number) do update set
        started_at = excluded.started_at, milliseconds = excluded.milliseconds, status = excluded.status,
        error = excluded.error, response = excluded.response, signature = excluded.signature
    ), counted as (
      insert into webhook_hourly_stats as stats (
        location_id, webhook_id, hour, succeeded, failed, milliseconds, last_succeeded_at, last_failed_at
      )
      select
        w.location_id, w.id, date_trunc('hour', ended_at, 'UTC'), count(*) filter (where error is null), count(error),
        sum(milliseconds), max(ended_at) filter (where error is null), max(ended_at) filter (where error is not null)
      from attempted a join webhooks w on w.location_id = a.location_id and w.id = a.webhook_id
      group by 1, 2, 3
      -- Sorted by webhook, so that batches lock the rows in the same sequence and cannot deadlock.
      order by 2, 3
      on conflict (location_id, webhook_id, hour) do update set
        succeeded = stats.succeeded + excluded.succeeded,
        failed = stats.failed + excluded.failed,
        milliseconds = stats.milliseconds + excluded.milliseconds,
        last_succeeded_at = greatest(stats.last_succeeded_at, excluded.last_succeeded_at),
        last_failed_at = greatest(stats.last_failed_at, excluded.last_failed_at)
    )
    update webhooks set failing_since = null, last_error = null, warned_at = null
    where id = any(${healthyWebhookIds}::uuid[]) and failing_since is not null`;
}
