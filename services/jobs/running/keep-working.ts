import type { Logger } from "@pragma/runtime/logger";
import { openOutageLog } from "@pragma/runtime/outage-log";
import type { Database } from "@pragma/runtime/postgres";
import { sleep } from "@pragma/runtime/sleep";
import { findBusyLocations } from "../queries/queueing.ts";
import type { LocationQueues } from "../queues/location-queues.ts";

const everyMilliseconds = 15_000;

/** Sees to it, in every process, that the jobs of each location are done that has any, and only of those. */
export function keepWorking({ db, queues, log }: { db: Database; queues: LocationQueues; log: Logger }): {
  stop(): Promise<void>;
} {
  const stopping = new AbortController();
  const outage = openOutageLog(log, "which locations have jobs cannot be asked");

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await queues.workOnly(await findBusyLocations(db.sql));
        outage.recovered();
      } catch (error) {
        outage.failed(error);
      }
      await sleep(everyMilliseconds, stopping.signal);
    }
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
