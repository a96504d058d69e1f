import { logEach } from "@pragma/runtime/logger";
import { retryTransient } from "@pragma/runtime/transient-error";
import { type Outcome, recordAttempts } from "../queries/outcomes.ts";
import type { Foundation } from "../webhooks.ts";
import { batched } from "./batched.ts";
import { healthOf, recordFailures } from "./endpoint-health.ts";

/** Writes down what came of attempts. */
export interface AttemptWriter {
  /** Resolves once it is written, however long the database is away; when the writer is closed in the meantime, unwritten. */
  record(outcome: Outcome): Promise<void>;
  /** Waits for the database no longer. */
  close(): void;
}

export function openAttemptWriter({ db, clock, log }: Pick<Foundation, "db" | "clock" | "log">): AttemptWriter {
  const closing = new AbortController();

  async function write(outcomes: Outcome[]): Promise<void> {
    const { working, failing } = healthOf(outcomes);
    if (failing.length === 0) return recordAttempts(db.sql, { outcomes, working });
    await db.transaction(async (tx) => {
      await recordAttempts(tx, { outcomes, working });
      await recordFailures(tx, failing, { now: clock(), log });
    });
  }

  /** Tried for as long as the database is away. */
  async function persist(outcomes: Outcome[]): Promise<undefined> {
    await retryTransient(() => write(outcomes), closing.signal);
    logEach(log, outcomes.map(logFields), "attempt");
  }

  // One at a time: batches in parallel would wait for one another, counting for the same webhooks. Nobody waits for
  // them but the next message to the same endpoint, and that only when it has many under way.
  const record = batched<Outcome, void>(persist, { size: 200, concurrency: 1, gatherMs: 5 });
  return {
    record: (outcome) =>
      record(outcome).catch((error) => {
        log.error({ err: error, ...logFields(outcome) }, "what came of an attempt could not be written");
      }),
    close: () => closing.abort(),
  };
}

/** An attempt as its one log line has it. */
function logFields({ claim, posted, verdict, milliseconds, context }: Outcome) {
  const { deliveryId, webhookId, messageId, event, generation, attempt } = claim;
  const { traceId } = context;
  const { state, error } = verdict;
  const { status } = posted;
  return { deliveryId, webhookId, messageId, event, generation, attempt, traceId, status, milliseconds, state, error };
}
