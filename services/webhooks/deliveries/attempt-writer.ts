import { logEntriesInBatch } from "@pragma/runtime/observability/logger";
import { retryTransient } from "@pragma/runtime/retries/transient-error";
import type { WebhooksDependencies } from "../dependencies.ts";
import { type CompletedDeliveryAttempt, insertDeliveryAttempts } from "../queries/attempts.ts";
import { batchCalls } from "./batch-calls.ts";
import { recordWebhookEndpointFailures, summarizeWebhookEndpointHealth } from "./endpoint-health.ts";

/** Writes the results of attempts to the database, in batches. */
export interface AttemptWriter {
  /**
   * Stores an attempt. Retries as long as the database is unavailable, or until the writer is closed, in which case the
   * attempt is lost. Never rejects.
   */
  recordAttempt(completedAttempt: CompletedDeliveryAttempt): Promise<void>;
  /** Stops the retries of attempts that could not be stored. */
  close(): void;
}

export function createAttemptWriter({
  db,
  clock,
  log,
}: Pick<WebhooksDependencies, "db" | "clock" | "log">): AttemptWriter {
  const closing = new AbortController();

  async function writeAttempts(completedAttempts: CompletedDeliveryAttempt[]): Promise<void> {
    const { healthyWebhookIds, failingEndpoints } = summarizeWebhookEndpointHealth(completedAttempts);
    if (failingEndpoints.length === 0)
      return insertDeliveryAttempts(db.sql, { attempts: completedAttempts, healthyWebhookIds });
    await db.transaction(async (tx) => {
      await insertDeliveryAttempts(tx, { attempts: completedAttempts, healthyWebhookIds });
      await recordWebhookEndpointFailures(tx, failingEndpoints, { now: clock(), log });
    });
  }

  /** Retries as long as the database is unavailable, or until the writer is closed. */
  async function writeWithRetries(completedAttempts: CompletedDeliveryAttempt[]): Promise<undefined> {
    await retryTransient(() => writeAttempts(completedAttempts), closing.signal);
    logEntriesInBatch(log, completedAttempts.map(attemptLogFields), "attempt");
  }

  // One batch at a time, because parallel batches would lock the same rows of the hourly statistics. Waiting for a
  // batch delays only further messages to the same endpoint, and only while that endpoint has many messages in flight.
  const recordBatched = batchCalls<CompletedDeliveryAttempt, void>(writeWithRetries, {
    maxBatchSize: 200,
    maxConcurrentBatches: 1,
    batchDelayMs: 5,
  });
  return {
    recordAttempt: (completedAttempt) =>
      recordBatched(completedAttempt).catch((error) => {
        log.error({ err: error, ...attemptLogFields(completedAttempt) }, "failed to record attempt");
      }),
    close: () => closing.abort(),
  };
}

/** Returns the fields of an attempt's log line. */
function attemptLogFields({ claim, postResult, evaluation, milliseconds, context }: CompletedDeliveryAttempt) {
  const { deliveryId, webhookId, messageId, event, generation, attempt } = claim;
  const { traceId } = context;
  const { state, error } = evaluation;
  const { status } = postResult;
  return { deliveryId, webhookId, messageId, event, generation, attempt, traceId, status, milliseconds, state, error };
}
