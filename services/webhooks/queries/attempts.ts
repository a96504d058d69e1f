import { type SqlClient, type SqlTransaction, toRecordsetParameter } from "@pragma/runtime/database/postgres";
import type { RequestContext } from "@pragma/runtime/observability/request-context";
import type { DeliveryAttemptEvaluation, WebhookPostResult } from "../deliveries/evaluate-attempt.ts";
import type { DeliveryClaim } from "./claims.ts";

/** An attempt that was made, and what came of it. */
export interface CompletedDeliveryAttempt {
  claim: DeliveryClaim;
  postResult: WebhookPostResult;
  evaluation: DeliveryAttemptEvaluation;
  startedAt: Date;
  endedAt: Date;
  milliseconds: number;
  /** Of the attempt. */
  context: RequestContext;
}

/**
 * Logs attempts, moves their deliveries on, counts them, and notes the endpoints that work, in one statement. An
 * attempt that was taken for interrupted in the meantime is corrected; if it succeeded, so has the delivery, unless it
 * was made again on request. One that failed while its delivery was recovered is the last of its generation.
 */
export async function insertDeliveryAttempts(
  sql: SqlClient | SqlTransaction,
  { outcomes: attempts, working: healthyWebhookIds }: { outcomes: CompletedDeliveryAttempt[]; working: string[] },
): Promise<void> {
  const rows = attempts.map(({ claim, postResult, evaluation, startedAt, endedAt, milliseconds }) => ({
    deliveryId: claim.deliveryId,
    webhookId: claim.webhookId,
    generation: claim.generation,
    attempt: claim.attempt,
    state: evaluation.state,
    status: postResult.status,
    error: evaluation.error,
    response: postResult.status === null ? null : postResult.response,
    startedAt,
    endedAt,
    milliseconds,
    nextAttemptAt: evaluation.nextAttemptAt,
  }));
  const isRetryRequested = sql`(d.again and made.state <> 'succeeded')`;
  await sql`
    with made as (
      select * from jsonb_to_recordset(${toRecordsetParameter(sql, rows)}) as made (
        delivery_id uuid, webhook_id uuid, generation int, attempt int, state text, status int, error text,
        response text, started_at timestamptz, ended_at timestamptz, milliseconds int, next_attempt_at timestamptz
        -- The limit tells the planner how few they are.
      ) limit ${rows.length}::int
    ), logged as (
      insert into attempts (
        delivery_id, generation, number, started_at, milliseconds, status, error, response, next_attempt_at
      )
      select delivery_id, generation, attempt, started_at, milliseconds, status, error, response, next_attempt_at
      from made
      on conflict (delivery_id, generation, number) do update set
        started_at = excluded.started_at, milliseconds = excluded.milliseconds, status = excluded.status,
        error = excluded.error, response = excluded.response
    ), counted as (
      insert into webhook_hours (webhook_id, hour, succeeded, failed, milliseconds, last_succeeded_at, last_failed_at)
      select
        w.id, date_trunc('hour', ended_at, 'UTC'), count(*) filter (where error is null), count(error),
        sum(milliseconds), max(ended_at) filter (where error is null), max(ended_at) filter (where error is not null)
      from made join webhooks w on w.id = webhook_id
      group by 1, 2
      -- So that batches which count for the same webhooks wait for one another in turn.
      order by 1, 2
      on conflict (webhook_id, hour) do update set
        succeeded = webhook_hours.succeeded + excluded.succeeded,
        failed = webhook_hours.failed + excluded.failed,
        milliseconds = webhook_hours.milliseconds + excluded.milliseconds,
        last_succeeded_at = greatest(webhook_hours.last_succeeded_at, excluded.last_succeeded_at),
        last_failed_at = greatest(webhook_hours.last_failed_at, excluded.last_failed_at)
    ), working as (
      update webhooks set failing_since = null, last_error = null, warned_at = null
      where id = any(${healthyWebhookIds}::uuid[]) and failing_since is not null
    )
    update deliveries d set
      state = case when ${isRetryRequested} then 'pending' else made.state end, again = false,
      due_at = case when ${isRetryRequested} then made.ended_at else made.next_attempt_at end,
      generation = d.generation + ${isRetryRequested}::int,
      attempt = case when ${isRetryRequested} then 1 else d.attempt + (made.state = 'pending')::int end,
      failures = case when ${isRetryRequested} then 0 else d.failures + (made.error is not null)::int end,
      settled_at = case when made.state <> 'pending' then made.ended_at else d.settled_at end
    from made
    where d.id = made.delivery_id and d.generation = made.generation and (
      (d.state = 'sending' and d.attempt = made.attempt)
      or (made.state = 'succeeded' and d.state in ('pending', 'sending'))
    )`;
}
