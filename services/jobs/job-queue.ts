import { setMaxListeners } from "node:events";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { startClaimLoop } from "@pragma/runtime/database/claim-loop";
import { createRedisClient } from "@pragma/runtime/database/redis";
import { createOutageLog } from "@pragma/runtime/observability/outage-log";
import { Queue, Worker } from "bullmq";
import type { JobsConfig } from "./config.ts";
import { admitDueJobs, type JobPrimaryKey, type JobRow, updateJob } from "./queries/jobs.ts";
import { type JobRunnerServices, runJob } from "./run-job.ts";

export type JobQueue = ReturnType<typeof startJobQueue>;

export const bullQueueName = "jobs-public";
/** The BullMQ name of every job. */
export const bullJobName = "message";
/** Returns a job's BullMQ id. BullMQ rejects the colon in the id of a run; no id from a client contains `~`. */
export const toBullJobId = ({ locationId, id }: JobPrimaryKey) => `${locationId}.${id.replace(":", "~")}`;
/** Keeps BullMQ's event stream in Redis short, since nothing reads it. */
export const bullEventStreamOptions = { events: { maxLen: 10 } };

/** How long BullMQ keeps finished jobs for operators; PostgreSQL has the outcomes. Ages are in seconds. */
const finishedJobRetention = {
  removeOnComplete: { age: 60 * 60, count: 1_000 },
  removeOnFail: { age: 24 * 60 * 60, count: 1_000 },
};
/** Upper bounds of the options keepLogs and stackTraceLimit. */
const maxLogLines = 100;
const maxStackTraces = 10;
/** Interval between searches for due jobs. A search also follows each job that is created or ends. */
const pollMs = 250;
/** Maximum number of concurrent additions to the queue, which bounds the memory in use while Redis does not respond. */
const maxConcurrentAdds = 1_000;
const closeTimeoutMs = 5_000;
/** Pause of the worker when Redis rejects writes: BullMQ would retry immediately, thousands of times a second. */
const redisFullPauseMs = 2_000;
/** Milliseconds after which BullMQ considers a silent worker dead. Equal to the lease in PostgreSQL. */
const lockDuration = 15_000;
const stalledInterval = 5_000;
/**
 * How often a job may lose its worker before BullMQ fails it. High, because a Redis that rejects writes looks like a
 * lost worker, too, and because the lease prevents a job from running twice.
 */
const maxStalledCount = 100;

/**
 * Starts the queue of all locations and its worker. Jobs wait in PostgreSQL, in order, and only a limited number per
 * location is in BullMQ at a time. Jobs that Redis loses are added to BullMQ again.
 *
 * PostgreSQL alone would suffice as a queue. BullMQ is used for two reasons: it hands due jobs to the workers of all
 * processes immediately, whereas each process polls PostgreSQL only at intervals; and its board on the ops port shows
 * operators each job with its progress, log and stack traces (the options keepLogs and stackTraceLimit).
 */
export function startJobQueue(config: JobsConfig, runServices: JobRunnerServices) {
  const { db, log } = runServices;
  const stopping = new AbortController();
  // Every running job adds a listener.
  setMaxListeners(0, stopping.signal);
  const connection = createRedisClient(config, {
    maxRetriesPerRequest: null,
    retryStrategy: (times) => (stopping.signal.aborted ? null : Math.min(times * 100, 2_000)),
  });
  const redisOutage = createOutageLog(log, "Redis is unavailable or full");
  connection.on("error", redisOutage.recordFailure).on("ready", redisOutage.recordRecovery);
  const bullOptions = { connection, prefix: config.NAMESPACE, skipVersionCheck: true };
  const queue = new Queue<JobPrimaryKey, void>(bullQueueName, { ...bullOptions, streams: bullEventStreamOptions });
  queue.on("error", () => {});

  /** Adds a job to BullMQ, or retries it there after a failed attempt, which keeps the traces of earlier attempts. */
  async function enqueueJob(job: JobRow): Promise<void> {
    const { locationId, id, timestamp, options } = job;
    const jobId = toBullJobId(job);
    const existing = await queue.getJob(jobId);
    const state = await existing?.getState();
    if (state === "failed" && job.attemptsMade > 0) return existing?.retry();
    if (state === "active" && job.attemptsMade > 0) {
      // BullMQ has not recorded the failed attempt yet, so that the job waits for the next search.
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
    // A job that did not reach Redis is found again by a later search.
    processItem: (job) => enqueueJob(job).then(redisOutage.recordRecovery, redisOutage.recordFailure),
    concurrency: maxConcurrentAdds,
    pollMs,
  });
  const worker = new Worker<JobPrimaryKey, void>(
    bullQueueName,
    (queued) => runJob(runServices, { key: queued.data, queued, signal: stopping.signal }),
    {
      ...{ ...bullOptions, lockDuration, stalledInterval, maxStalledCount },
      concurrency: config.JOBS_CONCURRENCY_PER_PROCESS,
    },
  );
  worker.on("completed", admissionLoop.poll).on("failed", admissionLoop.poll);
  worker.on("error", (error) => {
    log.debug({ err: error }, "queue worker error");
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
    /** Requeues the running jobs and closes. While Redis is unavailable, other processes find the jobs by their leases. */
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
