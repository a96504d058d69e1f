import type { Logger } from "@pragma/runtime/logger";
import { openOutageLog } from "@pragma/runtime/outage-log";
import type { Database } from "@pragma/runtime/postgres";
import { sleep } from "@pragma/runtime/sleep";
import { admitJobs, findDueLocations, untilNextDue } from "./queries/waiting.ts";
import type { JobQueue } from "./queue.ts";

interface DispatcherOptions {
  maxPerLocation: number;
  log: Logger;
}

/** How long at most until all locations are looked at, in milliseconds. */
const pollMs = 1_000;

export type Dispatcher = ReturnType<typeof startDispatcher>;

/** Gives jobs to the queue that are due, at most so many of each location at a time. */
export function startDispatcher(db: Database, queue: JobQueue, { maxPerLocation, log }: DispatcherOptions) {
  const outage = openOutageLog(log, "jobs cannot be given to their queue");
  const woken: string[] = [];
  let waking = new AbortController();
  let isStopped = false;
  let pollAt = 0;

  /** A job that is marked in PostgreSQL and does not reach the queue is restored by a periodic task. */
  async function dispatch(): Promise<void> {
    const isPoll = Date.now() >= pollAt;
    if (isPoll) pollAt = Date.now() + pollMs;
    if (!queue.isReady()) return;
    const locationIds = new Set(isPoll ? await findDueLocations(db.sql, maxPerLocation) : []);
    for (const locationId of woken.splice(0)) locationIds.add(locationId);
    const jobs = await admitJobs(db, { locationIds: [...locationIds], maxPerLocation });
    await Promise.all(jobs.map((job) => queue.add(job)));
    pollAt = Math.min(pollAt, Date.now() + (await untilNextDue(db.sql)));
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      waking = new AbortController();
      await dispatch().then(outage.recovered, outage.failed);
      await sleep(Math.max(0, pollAt - Date.now()), waking.signal);
    }
  }

  const running = run();
  return {
    /** Has a location looked at now: it has a new job, or one of its jobs has ended. */
    wake(locationId: string) {
      woken.push(locationId);
      waking.abort();
    },
    async stop() {
      isStopped = true;
      waking.abort();
      await running;
    },
  };
}
