import { setMaxListeners } from "node:events";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { startClaimLoop } from "@pragma/runtime/database/claim-loop";
import { createRedisClient } from "@pragma/runtime/database/redis";
import { createOutageLog } from "@pragma/runtime/observability/outage-log";
import { Queue, Worker } from "bullmq";
import type { JobsConfig } from "./context.ts";
import { admitDueJobs, type JobKey, type JobRow, updateJob } from "./queries/jobs.ts";
import { type RunJobServices, runJob } from "./run-job.ts";

export type JobQueue = ReturnType<typeof startJobQueue>;

export const bullQueueName = "jobs-public";
/** The name of every job in the queue. */
export const bullJobName = "message";
/** The id that a job has in the queue: BullMQ takes no colon, which the id of a run has, and no user's id has a `~`. */
export const toBullJobId = ({ locationId, id }: JobKey) => `${locationId}.${id.replace(":", "~")}`;
/** No one reads the events that BullMQ keeps in Redis. */
export const bullEventStreamOptions = { events: { maxLen: 10 } };

/** For operators to look at; what a job came to is in PostgreSQL. Ages are in seconds. */
const finishedJobRetention = {
  removeOnComplete: { age: 60 * 60, count: 1_000 },
  removeOnFail: { age: 24 * 60 * 60, count: 1_000 },
};
/** Lines of a job's log, and traces of its failures, that are kept at most. */
const maxLogLines = 100;
const maxStackTraces = 10;
/** How often jobs that are due are looked for, besides when one was created or has ended. */
const pollMs = 250;
/** Jobs that are being added to the queue at a time: while Redis does not answer, no more of them wait for it. */
const maxConcurrentAdds = 1_000;
const closeTimeoutMs = 5_000;
/** How long a worker rests when Redis refuses writes: it would ask again at once, thousands of times a second. */
const redisFullPauseMs = 2_000;
/** A worker that has not been heard of for so long is taken for dead, as it is by the lease in PostgreSQL. */
const lockDuration = 15_000;
const stalledInterval = 5_000;
/**
 * How often a job may lose its worker before the queue gives it up. Redis that takes no writes looks like that too, and
 * a job that comes up again is not done twice.
 */
const maxStalledCount = 100;

/**
 * Opens the queue of all locations, and does its jobs. They wait in PostgreSQL, in their order, and only so many of a
 * location are in the queue at a time. What Redis loses is given to it again.
 *
 * PostgreSQL alone could do without a queue on Redis. BullMQ is there because it gives what is due to the workers of all
 * processes at once, while each polls PostgreSQL only so often, and because it is what operators look at: the board of
 * the ops port shows its jobs, how far each is, its log and the traces of its failures, which the options keepLogs and
 * stackTraceLimit are about.
 */
export function startJobQueue(config: JobsConfig, runServices: RunJobServices) {
  const { db, log } = runServices;
  const stopping = new AbortController();
  // Every job that is being done listens.
  setMaxListeners(0, stopping.signal);
  const connection = createRedisClient(config, {
    maxRetriesPerRequest: null,
    retryStrategy: (times) => (stopping.signal.aborted ? null : Math.min(times * 100, 2_000)),
  });
  const redisOutage = createOutageLog(log, "Redis is away or full");
  connection.on("error", redisOutage.recordFailure).on("ready", redisOutage.recordRecovery);
  const bullOptions = { connection, prefix: config.NAMESPACE, skipVersionCheck: true };
  const queue = new Queue<JobKey, void>(bullQueueName, { ...bullOptions, streams: bullEventStreamOptions });
  queue.on("error", () => {});

  /** Adds a job, or has one tried again that failed, which adds to the traces of its attempts before. */
  async function enqueueJob(job: JobRow): Promise<void> {
    const { locationId, id, timestamp, options } = job;
    const jobId = toBullJobId(job);
    const existing = await queue.getJob(jobId);
    const state = await existing?.getState();
    if (state === "failed" && job.attemptsMade > 0) return existing?.retry();
    if (state === "active" && job.attemptsMade > 0) {
      // The queue has yet to note that the attempt before has failed: the job waits until it is looked for again.
      await updateJob(db.sql, job, { queuedAt: null });
      return;
    }
    if (state === "completed" || state === "failed") await existing?.remove();
    const keepLogs = Math.min(options.keepLogs ?? maxLogLines, maxLogLines);
    const stackTraceLimit = Math.min(options.stackTraceLimit ?? maxStackTraces, maxStackTraces);
    await queue.add(
      bullJobName,
      { locationId, id },
      { ...finishedJobRetention, jobId, timestamp, keepLogs, stackTraceLimit },
    );
  }

  const admissionLoop = startClaimLoop<JobRow>({
    name: "public jobs",
    log,
    claim: async () => (connection.status === "ready" ? admitDueJobs(db, config.JOBS_CONCURRENCY) : []),
    // One that does not reach the queue is looked for after a while.
    processItem: (job) => enqueueJob(job).then(redisOutage.recordRecovery, redisOutage.recordFailure),
    concurrency: maxConcurrentAdds,
    pollMs,
  });
  const worker = new Worker<JobKey, void>(
    bullQueueName,
    (queued) => runJob(runServices, { key: queued.data, queued, signal: stopping.signal }),
    {
      ...{ ...bullOptions, lockDuration, stalledInterval, maxStalledCount },
      concurrency: config.JOBS_CONCURRENCY_PER_PROCESS,
    },
  );
  worker.on("completed", admissionLoop.poll).on("failed", admissionLoop.poll);
  worker.on("error", (error) => {
    log.debug({ err: error }, "queue worker");
    if (!error.message.startsWith("OOM ") || worker.isPaused()) return;
    void worker.pause(true);
    setTimeout(() => void worker.resume(), redisFullPauseMs).unref();
  });

  return {
    queue,
    wake: admissionLoop.poll,
    async checkRedis() {
      if (connection.status !== "ready") throw new Error("not connected");
      await connection.ping();
    },
    /** Gives back what is being done, and closes. While Redis is away what is given back is found by its lease. */
    async close() {
      stopping.abort();
      const timeoutAbort = new AbortController();
      const closing = Promise.all([admissionLoop.close(), worker.close()]).then(() => queue.close());
      await Promise.race([closing, sleep(closeTimeoutMs, timeoutAbort.signal)]);
      timeoutAbort.abort();
      connection.disconnect();
    },
  };
}
