import { setMaxListeners } from "node:events";
import {
  connectForAsking,
  connectForWorking,
  type jobQueueConfig,
  pauseWhileRedisIsFull,
  unreadEvents,
} from "@pragma/runtime/job-queue";
import type { Logger } from "@pragma/runtime/logger";
import { sleep } from "@pragma/runtime/sleep";
import { type Job, Queue, Worker } from "bullmq";
import type { z } from "zod";
import type { JobKey, JobRow } from "./queries/jobs.ts";

/** A job as the queue has it: which one it is, and nothing of what it is about. */
export type QueuedJob = Job<JobKey, void>;

/** Does a job that the queue gives out. The signal is given when the process stops. */
export type JobHandler = (job: QueuedJob, token: string, signal: AbortSignal) => Promise<void>;

export type JobQueue = ReturnType<typeof openQueue>;

export const queueName = "jobs-public";
/** The name of every job in the queue. */
export const jobName = "message";
/** The id that a job has in the queue. A user's id has no `~` and BullMQ's has no colon. */
export const queuedId = ({ location_id, id }: JobKey) => `${location_id}.${id.replace(":", "~")}`;

/** For operators to look at; what a job came to is in PostgreSQL. Ages are in seconds. */
const keptInQueue = {
  removeOnComplete: { age: 60 * 60, count: 1_000 },
  removeOnFail: { age: 24 * 60 * 60, count: 1_000 },
};
/** Lines of a job's log, and traces of its failures, that are kept at most. */
const maxLogs = 100;
const maxTraces = 10;
const closeTimeoutMs = 5_000;
/**
 * How often a job may lose its worker before the queue gives it up. Redis that takes no writes looks like that too, and
 * a job that comes up again is not done twice.
 */
const maxStalledCount = 100;

/** Opens the queue of all locations, which holds the jobs that may begin now. */
export function openQueue(
  config: z.infer<typeof jobQueueConfig>,
  { concurrency, log }: { concurrency: number; log: Logger },
) {
  const prefix = config.NAMESPACE;
  const stopping = new AbortController();
  // Every job that is being done listens.
  setMaxListeners(0, stopping.signal);
  const asking = connectForAsking(config, log);
  const working = connectForWorking(config, stopping.signal);
  const queue: Queue<JobKey, void> = new Queue(queueName, {
    ...{ connection: asking, prefix, skipVersionCheck: true, streams: unreadEvents },
  });
  queue.on("error", () => {});
  let worker: Worker<JobKey, void> | undefined;

  return {
    queue,
    isReady: () => asking.status === "ready",
    /** Adds a job, or has one tried again that failed; false when it is there already. Rejects while Redis is away. */
    async add(job: JobRow): Promise<boolean> {
      const { location_id, id, timestamp, attempts_made, options } = job;
      const known = await queue.getJob(queuedId(job));
      const state = await known?.getState();
      if (known && state !== "completed" && state !== "failed") return false;
      // Another attempt adds to the traces of those before; anything else is left over from a job of the same id.
      if (known && attempts_made > 0) {
        await known.retry(state as "completed" | "failed");
        return true;
      }
      await known?.remove();
      const { keepLogs = maxLogs, stackTraceLimit = maxTraces } = options;
      const kept = { keepLogs: Math.min(keepLogs, maxLogs), stackTraceLimit: Math.min(stackTraceLimit, maxTraces) };
      await queue.add(jobName, { location_id, id }, { ...keptInQueue, ...kept, jobId: queuedId(job), timestamp });
      return true;
    },
    /** Begins to do jobs; `onEnd` is called with the location of each one that has left the queue. */
    work(handle: JobHandler, onEnd: (locationId: string) => void): void {
      worker = new Worker(queueName, (job, token = "") => handle(job, token, stopping.signal), {
        ...{ connection: working, prefix, concurrency, skipVersionCheck: true, maxStalledCount },
      });
      worker.on("error", (error) => log.debug({ err: error }, "queue worker"));
      pauseWhileRedisIsFull(worker);
      worker.on("completed", ({ data }) => onEnd(data.location_id));
      worker.on("failed", (job) => job && onEnd(job.data.location_id));
    },
    async check() {
      await asking.ping();
    },
    /** Gives back what is being done, and closes. */
    async close() {
      stopping.abort();
      // What cannot be given back, because Redis is away, is restored when its lease has expired.
      const closing = new AbortController();
      await Promise.race([worker?.close(), sleep(closeTimeoutMs, closing.signal)]);
      await Promise.race([queue.close(), sleep(closeTimeoutMs, closing.signal)]);
      closing.abort();
      for (const connection of [asking, working]) connection.disconnect();
    },
  };
}
