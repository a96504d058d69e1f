import { setMaxListeners } from "node:events";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { startClaimLoop } from "@pragma/runtime/database/claim-loop";
import { createRedisClient, requireUsableRedis } from "@pragma/runtime/database/redis";
import { createOutageLog } from "@pragma/runtime/observability/outage-log";
import { endProcessIfServerIsUnusable } from "@pragma/runtime/process/unusable-server-error";
import { Queue, Worker } from "bullmq";
import type { JobsServiceConfig } from "./config.ts";
import {
  findNextDueMs,
  type JobPrimaryKey,
  type JobRow,
  markDueJobsAsQueued,
  updateUnfinishedJobRow,
} from "./queries/jobs.ts";
import { type JobRunnerDependencies, runJob } from "./run-job.ts";

export type JobQueue = ReturnType<typeof startJobQueue>;

export const publicJobsBullQueueName = "jobs-public";
export const publicJobsBullJobName = "message";
/**
 * Returns a job's BullMQ id. Replaces the colon in the id of a repeating job's run with `~`, because BullMQ rejects
 * colons. The result is unique, because job ids from clients cannot contain `~`.
 */
export const toBullJobId = ({ locationId, id }: JobPrimaryKey) => `${locationId}.${id.replace(":", "~")}`;
/** Keeps BullMQ's event stream in Redis short, because nothing reads the stream. */
export const bullEventStreamOptions = { events: { maxLen: 10 } };

/**
 * Retention of finished jobs in BullMQ: maximum age in seconds, and maximum number of jobs. Only operators need these
 * copies, because PostgreSQL stores the outcomes of all jobs.
 */
const finishedJobRetention = {
  removeOnComplete: { age: 60 * 60, count: 1_000 },
  removeOnFail: { age: 24 * 60 * 60, count: 1_000 },
};
/** Maximum values of the job options keepLogs and stackTraceLimit, which limit the memory that a job uses in Redis. */
const maxLogLines = 100;
const maxStackTraces = 10;
/**
 * The maximum time between searches for due jobs, in milliseconds, because a process can die before it searches for a job
 * that it has created. A search also starts when any job becomes due or may have been lost by Redis, and when this process
 * creates or ends a job or connects to Redis.
 */
const pollMs = 10_000;
/** Maximum number of concurrent additions to the queue, which bounds the memory in use while Redis does not respond. */
const maxConcurrentAdds = 1_000;
const closeTimeoutMs = 5_000;
/** The pause of the worker when Redis is full. Without it, BullMQ would retry thousands of times per second. */
const redisFullPauseMs = 2_000;
/** Milliseconds after which BullMQ considers a worker dead that renews no lock. A lease in PostgreSQL lasts as long. */
const lockDuration = 15_000;
const stalledInterval = 5_000;
/**
 * Maximum number of times that a job may lose its worker before BullMQ fails the job. The number is high, because
 * rejected writes to Redis also look like a lost worker, and because the lease prevents a job from running twice.
 */
const maxStalledCount = 100;

/**
 * Starts the job queue of all locations, and its worker. PostgreSQL decides which job of a location runs next, and only
 * a limited number of jobs per location is in BullMQ at the same time. BullMQ sends these jobs to the workers of all
 * processes immediately, and its board on the ops port shows operators each job with its progress, log and stack traces.
 * Jobs that Redis loses are added to BullMQ again.
 *
 * Order, delay, priority, backoff and repetition are not BullMQ's, because its open-source version cannot limit the
 * running jobs of each location (groups require BullMQ Pro), and whatever limits them must know which job is next:
 * - With a queue per location, each worker has a blocking connection and sends three commands per second while idle, and
 *   something else must know for which locations a process needs a worker.
 * - With one queue that contains all jobs, a worker must put back the jobs of a location that has reached its limit. For
 *   5,000 such jobs, that occupies a processor, and they no longer run in the sequence of their priorities.
 * BullMQ also lets a waiting parent run although a child is added, and forgets how often a job has repeated when Redis
 * loses its data.
 */
export function startJobQueue(config: JobsServiceConfig, runServices: JobRunnerDependencies) {
  const { db, log } = runServices;
  const stopping = new AbortController();
  // Disables Node.js's warning about too many listeners, because every running job adds a listener.
  setMaxListeners(0, stopping.signal);
  const connection = createRedisClient(config, {
    maxRetriesPerRequest: null,
    retryStrategy: (times) => (stopping.signal.aborted ? null : Math.min(times * 100, 2_000)),
  });
  endProcessIfServerIsUnusable(requireUsableRedis(connection, config));
  const redisOutage = createOutageLog(log, "Redis is unavailable or full");
  connection.on("error", redisOutage.recordFailure).on("ready", redisOutage.recordRecovery);
  const bullOptions = { connection, prefix: config.NAMESPACE, skipVersionCheck: true };
  const queue = new Queue<JobPrimaryKey, void>(publicJobsBullQueueName, {
    ...bullOptions,
    streams: bullEventStreamOptions,
  });
  queue.on("error", () => {});

  /** After a failed attempt, retries the existing BullMQ job, because it contains the stack traces of earlier attempts. */
  async function enqueueJob(job: JobRow): Promise<void> {
    const { locationId, id, timestamp, options } = job;
    const jobId = toBullJobId(job);
    const existing = await queue.getJob(jobId);
    const state = await existing?.getState();
    if (state === "failed" && job.attemptsMade > 0) return existing?.retry();
    if (state === "active" && job.attemptsMade > 0) {
      // BullMQ has not recorded the failed attempt yet, so the job must wait for the next search.
      await updateUnfinishedJobRow(db.sql, job, { queuedAt: null });
      return;
    }
    if (state === "completed" || state === "failed") await existing?.remove();
    const keepLogs = Math.min(options.keepLogs ?? maxLogLines, maxLogLines);
    const stackTraceLimit = Math.min(options.stackTraceLimit ?? maxStackTraces, maxStackTraces);
    await queue.add(
      publicJobsBullJobName,
      { locationId, id },
      { ...finishedJobRetention, jobId, timestamp, keepLogs, stackTraceLimit },
    );
  }

  const admissionLoop = startClaimLoop<JobRow>({
    name: "public jobs",
    log,
    claim: async () => (connection.status === "ready" ? markDueJobsAsQueued(db, config.JOBS_CONCURRENCY) : []),
    // An error is only logged, because a later search finds a job that did not reach Redis.
    processItem: (job) => enqueueJob(job).then(redisOutage.recordRecovery, redisOutage.recordFailure),
    concurrency: maxConcurrentAdds,
    pollMs,
    findNextDueMs: () => findNextDueMs(db.sql),
  });
  connection.on("ready", admissionLoop.poll);
  const worker = new Worker<JobPrimaryKey, void>(
    publicJobsBullQueueName,
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
    /**
     * Requeues the running jobs and closes the queue. If Redis is unavailable, other processes can restart the running
     * jobs only later, when BullMQ's locks of the jobs have expired.
     */
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
