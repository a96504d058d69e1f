import type { Logger } from "@pragma/runtime/logger";
import type { Database } from "@pragma/runtime/postgres";
import { retryDelay } from "@pragma/runtime/retry-delay";
import { sleep } from "@pragma/runtime/sleep";
import { isTransient } from "@pragma/runtime/transient-error";
import type { Clock } from "../clock.ts";
import { type Outcome, recordAttempts } from "../queries/outcomes.ts";
import { batched } from "./batched.ts";
import { type HealthAction, healthOf, noteFailures } from "./endpoint-health.ts";

/** Writes down what came of attempts. */
export interface OutcomeLog {
  /** Resolves once it is written, however long the database is away; when the log is closed in the meantime, unwritten. */
  record(outcome: Outcome): Promise<void>;
  /** Waits for the database no longer. */
  close(): void;
}

interface LogOptions {
  db: Database;
  clock: Clock;
  log: Logger;
}

export function openOutcomeLog({ db, clock, log }: LogOptions): OutcomeLog {
  const closing = new AbortController();

  async function write(outcomes: Outcome[]): Promise<void> {
    const { working, failing } = healthOf(outcomes);
    if (failing.length === 0) return recordAttempts(db.sql, { outcomes, working });
    const actions = await db.transaction(async (tx) => {
      await recordAttempts(tx, { outcomes, working });
      return noteFailures(tx, failing, clock());
    });
    for (const each of actions) tell(each);
  }

  function tell({ action, webhook }: HealthAction): void {
    const { id, locationId, endpointUrl, failingSince, lastError } = webhook;
    log.warn({ webhookId: id, locationId, endpointUrl, failingSince, lastError }, `endpoint ${action}`);
  }

  /** Tried for as long as the database is away. Of a batch that cannot be written, each is tried by itself. */
  async function persist(outcomes: Outcome[]): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await write(outcomes);
      } catch (error) {
        if (isTransient(error) && !closing.signal.aborted) {
          await sleep(retryDelay(tries, { longest: 2_000 }), closing.signal);
        } else if (outcomes.length > 1 && !isTransient(error)) {
          for (const outcome of outcomes) await persist([outcome]);
          return;
        } else {
          const [outcome] = outcomes;
          log.error({ err: error, deliveryId: outcome?.deliveryId }, "what came of an attempt could not be written");
          return;
        }
      }
    }
  }

  return {
    record: batched(
      async (outcomes: Outcome[]) => {
        await persist(outcomes);
        return outcomes.map(() => undefined);
      },
      // One at a time: batches in parallel would wait for one another, counting for the same webhooks. Nobody waits for
      // them but the next message to the same endpoint, and that only when it has many under way.
      { size: 200, atATime: 1, gather: 5 },
    ),
    close: () => closing.abort(),
  };
}
