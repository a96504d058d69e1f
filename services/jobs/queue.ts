import { setMaxListeners } from "node:events";
import { startClaimLoop } from "@pragma/runtime/claim-loop";
import { openOutageLog } from "@pragma/runtime/outage-log";
import { openRedis } from "@pragma/runtime/redis";
import { sleep } from "@pragma/runtime/sleep";
import { Queue, Worker } from "bullmq";
import type { JobsConfig } from "./jobs.ts";
import { admitJobs, type JobKey, type JobRow, updateJob } from "./queries/jobs.ts";
import { type JobRunner, runJob } from "./run-job.ts";

export type JobQueue = ReturnType<typeof openQueue>;

export const queueName = "jobs-public";
/** The name of every job in the queue. */
export const jobName = "message";
/** The id that a job has in the queue: BullMQ takes no colon, which the id of a run has, and no user's id has a `~`. */
export const queuedId = ({ locationId, id }: JobKey) => `${locationId}.${id.replace(":", "~")}`;
/** No one reads the events that BullMQ keeps in Redis. */
export const unreadEvents = { events: { maxLen: 10 } };

/** For operators to look at; what a job came to is in PostgreSQL. Ages are in seconds. */
const kept = { removeOnComplete: { age: 60 * 60, count: 1_000 }, removeOnFail: { age: 24 * 60 * 60, count: 1_000 } };
/** Lines of a job's log, and traces of its failures, that are kept at most. */
const maxLogs = 100;
const maxTraces = 10;
/** How often jobs that are due are looked for, besides when one was created or has ended. */
const pollMs = 250;
/** Jobs that are being added to the queue at a time: while Redis does not answer, no more of them wait for it. */
const maxAdding = 1_000;
const closeTimeoutMs = 5_000;
/** How long a worker rests when Redis refuses writes: it would ask again at once, thousands of times a second. */
const fullPauseMs = 2_000;
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
export function openQueue(config: JobsConfig, runner: JobRunner) {
  const { db, log } = runner;
  const stopping = new AbortController();
  // Every job that is being done listens.
  setMaxListeners(0, stopping.signal);
  const connection = openRedis(config, {
    maxRetriesPerRequest: null,
    retryStrategy: (times) => (stopping.signal.aborted ? null : Math.min(times * 100, 2_000)),
  });
  const outage = openOutageLog(log, "Redis is away or full");
  connection.on("error", outage.failed).on("ready", outage.recovered);
  const shared = { connection, prefix: config.NAMESPACE, skipVersionCheck: true };
  const queue = new Queue<JobKey, void>(queueName, { ...shared, streams: unreadEvents });
  queue.on("error", () => {});

  /** Adds a job, or has one tried again that failed, which adds to the traces of its attempts before. */
  async function add(job: JobRow): Promise<void> {
    const { locationId, id, timestamp, options } = job;
    const jobId = queuedId(job);
    const known = await queue.getJob(jobId);
    const state = await known?.getState();
    if (state === "failed" && job.attemptsMade > 0) return known?.retry();
    if (state === "active" && job.attemptsMade > 0) {
      // The queue has yet to note that the attempt before has failed: the job waits until it is looked for again.
      await updateJob(db.sql, job, { queuedAt: null });
      return;
    }
    if (state === "completed" || state === "failed") await known?.remove();
    const keepLogs = Math.min(options.keepLogs ?? maxLogs, maxLogs);
    const stackTraceLimit = Math.min(options.stackTraceLimit ?? maxTraces, maxTraces);
    await queue.add(jobName, { locationId, id }, { ...kept, jobId, timestamp, keepLogs, stackTraceLimit });
  }

  const admitting = startClaimLoop<JobRow>({
    name: "public jobs",
    log,
    claim: async () => (connection.status === "ready" ? admitJobs(db, config.JOBS_CONCURRENCY) : []),
    // One that does not reach the queue is looked for after a while.
    work: (job) => add(job).then(outage.recovered, outage.failed),
    concurrency: maxAdding,
    pollMs,
  });
  const worker = new Worker<JobKey, void>(
    queueName,
    (queued) => runJob(runner, { key: queued.data, queued, signal: stopping.signal }),
    {
      ...{ ...shared, lockDuration, stalledInterval, maxStalledCount },
      concurrency: config.JOBS_CONCURRENCY_PER_PROCESS,
    },
  );
  worker.on("completed", admitting.wake).on("failed", admitting.wake);
  worker.on("error", (error) => {
    log.debug({ err: error }, "queue worker");
    if (!error.message.startsWith("OOM ") || worker.isPaused()) return;
    void worker.pause(true);
    setTimeout(() => void worker.resume(), fullPauseMs).unref();
  });

  return {
    queue,
    wake: admitting.wake,
    async check() {
      if (connection.status !== "ready") throw new Error("not connected");
      await connection.ping();
    },
    /** Gives back what is being done, and closes. While Redis is away what is given back is found by its lease. */
    async close() {
      stopping.abort();
      const closed = new AbortController();
      const closing = Promise.all([admitting.close(), worker.close()]).then(() => queue.close());
      await Promise.race([closing, sleep(closeTimeoutMs, closed.signal)]);
      closed.abort();
      connection.disconnect();
    },
  };
}
