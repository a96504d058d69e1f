import type { Logger } from "./logger.ts";
import { sleep } from "./sleep.ts";
import { isTransient } from "./transient-error.ts";

const databasePatience = 60_000;

/** Does what needs the database once that can be done: one that is still coming up is waited for, a minute at most. */
export async function whenDatabaseIsThere(work: () => Promise<void>, log: Logger): Promise<void> {
  const deadline = Date.now() + databasePatience;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || Date.now() > deadline) throw error;
      log.warn({ err: error }, "the database is not ready; trying until it is");
      await sleep(1_000);
    }
  }
}
