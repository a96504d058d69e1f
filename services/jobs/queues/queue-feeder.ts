import type { Logger } from "@pragma/runtime/logger";
import { PassingError } from "@pragma/runtime/passing-cause";
import type { Database } from "@pragma/runtime/postgres";
import type { JobRow } from "../queries/jobs.ts";
import { markQueued } from "../queries/queueing.ts";
import { endRepeating } from "../queries/runs.ts";
import { jobName, optionsInQueue, optionsOfRuns, repetitionInQueue } from "./job-options.ts";
import type { LocationQueues } from "./location-queues.ts";

/** Gives jobs to their queues. */
export interface QueueFeeder {
  /** Gives a job to its queue without letting anybody wait; what fails is tried again by the sweep. */
  offer(job: JobRow): void;
  /** Gives a job to its queue. One that is there already stays as it is. Rejects while Redis is away. */
  feed(job: JobRow): Promise<void>;
  /** Waits for what was offered. */
  settle(): Promise<void>;
}

export function openQueueFeeder({
  db,
  queues,
  log,
}: {
  db: Database;
  queues: LocationQueues;
  log: Logger;
}): QueueFeeder {
  const offered = new Set<Promise<void>>();

  async function feed(job: JobRow): Promise<void> {
    // A queue that is opened while Redis is away would wait for it.
    if (queues.redis.status !== "ready") throw new PassingError("Redis is away");
    if (job.options.repeat) await feedRepeating(job);
    else await feedOnce(job);
    await markQueued(db.sql, job);
    queues.work(job.location_id);
  }

  async function feedOnce(job: JobRow): Promise<void> {
    const queue = queues.of(job.location_id);
    if (job.options.jobId !== undefined) {
      // An earlier job of the same id that PostgreSQL has forgotten would be taken for this one.
      const known = await queue.getJob(job.id);
      if (known?.finishedOn && known.finishedOn < job.created_at.getTime()) await known.remove();
    }
    await queue.add(jobName, {}, optionsInQueue(job, queue.qualifiedName));
  }

  async function feedRepeating(job: JobRow): Promise<void> {
    const repetition = repetitionInQueue(job, Date.now());
    if (!repetition) {
      await db.transaction((tx) => endRepeating(tx, job));
      return;
    }
    const template = { name: jobName, data: {}, opts: optionsOfRuns(job) };
    await queues.of(job.location_id).upsertJobScheduler(job.id, repetition, template);
  }

  return {
    feed,
    offer(job) {
      const feeding = feed(job).catch((error) => log.debug({ err: error, jobId: job.id }, "job not queued yet"));
      offered.add(feeding);
      feeding.finally(() => offered.delete(feeding));
    },
    async settle() {
      await Promise.all(offered);
    },
  };
}
