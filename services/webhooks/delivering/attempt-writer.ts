import type { Logger } from "@pragma/runtime/logger";
import type { Database } from "@pragma/runtime/postgres";
import { retryDelay } from "@pragma/runtime/retry-delay";
import { sleep } from "@pragma/runtime/sleep";
import { isTransient } from "@pragma/runtime/transient-error";
import type { Clock } from "../clock.ts";
import { type Outcome, recordAttempts } from "../queries/outcomes.ts";
import { batched } from "./batched.ts";
import { healthOf, recordFailures } from "./endpoint-health.ts";

/** Writes down what came of attempts. */
export interface AttemptWriter {
  /** Resolves once it is written, however long the database is away; when the writer is closed in the meantime, unwritten. */
  record(outcome: Outcome): Promise<void>;
  /** Waits for the database no longer. */
  close(): void;
}

interface WriterOptions {
  db: Database;
  clock: Clock;
  log: Logger;
}

export function openAttemptWriter({ db, clock, log }: WriterOptions): AttemptWriter {
  const closing = new AbortController();

  async function write(outcomes: Outcome[]): Promise<void> {
    const { working, failing } = healthOf(outcomes);
    if (failing.length === 0) return recordAttempts(db.sql, { outcomes, working });
    const actions = await db.transaction(async (tx) => {
      await recordAttempts(tx, { outcomes, working });
      return recordFailures(tx, failing, clock());
    });
    for (const { action, ...endpoint } of actions) log.warn(endpoint, `endpoint ${action}`);
  }

  /** Tried for as long as the database is away. Of a batch that cannot be written, each is tried by itself. */
  async function persist(outcomes: Outcome[]): Promise<undefined[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        await write(outcomes);
        break;
      } catch (error) {
        if (isTransient(error) && !closing.signal.aborted) {
          await sleep(retryDelay(tries, { longest: 2_000 }), closing.signal);
        } else if (outcomes.length > 1 && !isTransient(error)) {
          for (const outcome of outcomes) await persist([outcome]);
          break;
        } else {
          const [outcome] = outcomes;
          log.error({ err: error, deliveryId: outcome?.deliveryId }, "what came of an attempt could not be written");
          break;
        }
      }
    }
    return outcomes.map(() => undefined);
  }

  return {
    // One at a time: batches in parallel would wait for one another, counting for the same webhooks. Nobody waits for
    // them but the next message to the same endpoint, and that only when it has many under way.
    record: batched(persist, { size: 200, concurrency: 1, gatherMs: 5 }),
    close: () => closing.abort(),
  };
}
