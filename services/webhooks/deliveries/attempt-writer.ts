import { logBatch } from "@pragma/runtime/observability/logger";
import { retryTransient } from "@pragma/runtime/retries/transient-error";
import type { WebhooksDependencies } from "../dependencies.ts";
import { type CompletedDeliveryAttempt, insertDeliveryAttempts } from "../queries/attempts.ts";
import { batchCalls } from "./batch-calls.ts";
import { recordEndpointFailures, summarizeEndpointHealth } from "./endpoint-health.ts";

/** Writes down what came of attempts. */
export interface AttemptWriter {
  /** Resolves once it is written, however long the database is away; when the writer is closed in the meantime, unwritten. */
  recordAttempt(outcome: CompletedDeliveryAttempt): Promise<void>;
  /** Waits for the database no longer. */
  close(): void;
}

export function createAttemptWriter({
  db,
  clock,
  log,
}: Pick<WebhooksDependencies, "db" | "clock" | "log">): AttemptWriter {
  const closing = new AbortController();

  async function writeAttempts(completedAttempts: CompletedDeliveryAttempt[]): Promise<void> {
    const { healthyWebhookIds, failingEndpoints } = summarizeEndpointHealth(completedAttempts);
    if (failingEndpoints.length === 0)
      return insertDeliveryAttempts(db.sql, { outcomes: completedAttempts, working: healthyWebhookIds });
    await db.transaction(async (tx) => {
      await insertDeliveryAttempts(tx, { outcomes: completedAttempts, working: healthyWebhookIds });
      await recordEndpointFailures(tx, failingEndpoints, { now: clock(), log });
    });
  }

  /** Tried for as long as the database is away. */
  async function writeWithRetries(completedAttempts: CompletedDeliveryAttempt[]): Promise<undefined> {
    await retryTransient(() => writeAttempts(completedAttempts), closing.signal);
    logBatch(log, completedAttempts.map(attemptLogFields), "attempt");
  }

  // One at a time: batches in parallel would wait for one another, counting for the same webhooks. Nobody waits for
  // them but the next message to the same endpoint, and that only when it has many under way.
  const recordBatched = batchCalls<CompletedDeliveryAttempt, void>(writeWithRetries, {
    maxBatchSize: 200,
    maxConcurrentBatches: 1,
    batchDelayMs: 5,
  });
  return {
    recordAttempt: (completedAttempt) =>
      recordBatched(completedAttempt).catch((error) => {
        log.error(
          { err: error, ...attemptLogFields(completedAttempt) },
          "what came of an attempt could not be written",
        );
      }),
    close: () => closing.abort(),
  };
}

/** An attempt as its one log line has it. */
function attemptLogFields({ claim, postResult, evaluation, milliseconds, context }: CompletedDeliveryAttempt) {
  const { deliveryId, webhookId, messageId, event, generation, attempt } = claim;
  const { traceId } = context;
  const { state, error } = evaluation;
  const { status } = postResult;
  return { deliveryId, webhookId, messageId, event, generation, attempt, traceId, status, milliseconds, state, error };
}
