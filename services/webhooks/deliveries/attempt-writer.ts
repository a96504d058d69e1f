import { writeLogLines } from "@pragma/runtime/observability/logger";
import { retryTransient } from "@pragma/runtime/retries/transient-error";
import type { WebhooksDependencies } from "../dependencies.ts";
import { type CompletedWebhookAttempt, recordDeliveryAttemptResults } from "../queries/attempts.ts";
import { batchCalls } from "./batch-calls.ts";
import { groupWebhookEndpointsByHealth, updateFailingWebhooks } from "./endpoint-health.ts";

export type WebhookAttemptWriter = ReturnType<typeof createWebhookAttemptWriter>;

/** Writes the results of attempts to the database, in batches. */
export function createWebhookAttemptWriter({ db, clock, log }: Pick<WebhooksDependencies, "db" | "clock" | "log">) {
  const closing = new AbortController();

  async function writeAttempts(completedAttempts: CompletedWebhookAttempt[]): Promise<void> {
    const { healthyWebhookIds, failingEndpoints } = groupWebhookEndpointsByHealth(completedAttempts);
    if (failingEndpoints.length === 0)
      return recordDeliveryAttemptResults(db.sql, { attempts: completedAttempts, healthyWebhookIds });
    await db.transaction(async (tx) => {
      await recordDeliveryAttemptResults(tx, { attempts: completedAttempts, healthyWebhookIds });
      await updateFailingWebhooks(tx, failingEndpoints, { now: clock(), log });
    });
  }

  // Only one batch is written at a time, because parallel batches would lock the same rows of the hourly statistics.
  // The delay is short, because an attempt counts as in flight, and can delay other messages, until it is stored.
  const recordBatched = batchCalls<CompletedWebhookAttempt, void>(
    async (completedAttempts) => {
      await retryTransient(() => writeAttempts(completedAttempts), closing.signal);
      writeLogLines(log, completedAttempts.map(attemptLogFields), "attempt");
      return undefined;
    },
    { maxBatchSize: 200, maxConcurrentBatches: 1, batchDelayMs: 5 },
  );
  return {
    /**
     * Stores an attempt. Retries while the database is unavailable, until the writer is closed. An attempt that cannot
     * be stored is only logged. Never rejects.
     */
    recordAttempt: (completedAttempt: CompletedWebhookAttempt) =>
      recordBatched(completedAttempt).catch((error) => {
        log.error({ err: error, ...attemptLogFields(completedAttempt) }, "failed to record attempt");
      }),
    close: () => closing.abort(),
  };
}

function attemptLogFields({ claim, postResult, evaluation, milliseconds, context }: CompletedWebhookAttempt) {
  const { deliveryId, webhookId, messageId, event, generation, attempt } = claim;
  const { state, error } = evaluation;
  const result = { traceId: context.traceId, status: postResult.status, milliseconds, state, error };
  return { deliveryId, webhookId, messageId, event, generation, attempt, ...result };
}
