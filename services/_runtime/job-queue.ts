import { type Job, type JobsOptions, Queue, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { z } from "zod";
import type { Logger } from "./logger.ts";
import type { Metrics } from "./metrics.ts";
import { isRedisFull, openRedis, type RedisConfig, redisConfig } from "./redis.ts";
import { type RequestContext, withRequestContext } from "./request-context.ts";
import { sleep } from "./sleep.ts";
import { SpanKind } from "./tracing.ts";

/** What a service with queues needs of its configuration. */
export const jobQueueConfig = redisConfig.extend({
  NAMESPACE: z.string().default("pragma"),
});

/** Events of queues that Redis keeps: nobody reads them. */
export const unreadEvents = { events: { maxLen: 10 } };

/** How long a worker rests when Redis refuses writes, in milliseconds. */
const fullPauseMs = 2_000;

/** How long a worker without jobs may take to close, in milliseconds. */
const closingPatience = 2_000;

interface JobOptions extends JobsOptions {
  jobId: string;
  /** Of its cause (W3C): the job is a part of that trace. */
  traceparent?: string | undefined;
}

export interface JobQueueOptions {
  /** Unique in the installation, e.g. `reporting-exports`. */
  name: string;
  log: Logger;
  metrics: Metrics;
}

/**
 * A queue of work on Redis. Redis holds no truth: what is queued is written in PostgreSQL first, and is queued again
 * from there when Redis has lost it.
 */
export interface JobQueue<Payload> {
  queue: Queue<Payload>;
  /** Rejects at once when Redis is away. The same `jobId` twice is one job for as long as the first is remembered. */
  add(payload: Payload, options: JobOptions): Promise<void>;
  /** The same for many, in one step: all of them are added, or none. */
  addAll(jobs: { payload: Payload; options: JobOptions }[]): Promise<void>;
  /** Handles jobs, so many at a time, until the queue is closed. One log line for each, unless `isQuiet`. */
  work(
    handle: (payload: Payload, signal: AbortSignal, context: RequestContext) => Promise<void>,
    options: { concurrency: number; isQuiet?: boolean },
  ): void;
  check(): Promise<void>;
  /** Lets the jobs that are being handled finish. */
  close(): Promise<void>;
}

export function openJobQueue<Payload>(
  config: z.infer<typeof jobQueueConfig>,
  { name, log, metrics }: JobQueueOptions,
): JobQueue<Payload> {
  const prefix = config.NAMESPACE;
  const stopping = new AbortController();
  const asking = connectForAsking(config, log);
  const queue = new Queue<Payload>(name, { connection: asking, prefix, skipVersionCheck: true, streams: unreadEvents });
  queue.on("error", () => {});
  const workers: { worker: Worker<Payload>; connection: Redis }[] = [];
  const underWay = new Set<Promise<void>>();
  for (const state of ["waiting", "delayed", "active", "failed"] as const) {
    metrics.observe("queue_jobs", "Jobs in a queue, by state", () => queue.getJobCountByTypes(state), {
      queue: name,
      state,
    });
  }

  const handled = metrics.durations("queue_job_duration_seconds", "Jobs handled, by queue and outcome");

  return {
    queue,
    async add(payload, options) {
      demandRedis(asking);
      await queue.add(name as never, payload as never, optionsInQueue(options));
    },
    async addAll(jobs) {
      const added = jobs.map(({ payload, options }) => ({
        name,
        data: payload,
        opts: optionsInQueue(options),
      }));
      demandRedis(asking);
      await queue.addBulk(added as never);
    },
    work(handle, { concurrency, isQuiet = false }) {
      const connection = connectForWorking(config, stopping.signal);
      const worker = new Worker<Payload>(
        name,
        (job) => {
          const handling = withRequestContext(identityOf(job, name), async (context) => {
            const { trace, logFields } = context;
            const started = performance.now();
            await handle(job.data, stopping.signal, context);
            const milliseconds = performance.now() - started;
            const { traceId } = trace;
            handled(milliseconds / 1000, { queue: name, outcome: "done" });
            if (!isQuiet) log.info({ queue: name, jobId: job.id, traceId, milliseconds, ...logFields }, "job");
          });
          underWay.add(handling);
          return handling.finally(() => underWay.delete(handling));
        },
        { connection, prefix, concurrency, skipVersionCheck: true },
      );
      worker.on("error", (error) => log.debug({ err: error, queue: name }, "queue worker"));
      pauseWhileRedisIsFull(worker);
      worker.on("failed", (job, error) => {
        const milliseconds = (job?.finishedOn ?? 0) - (job?.processedOn ?? 0);
        handled(milliseconds / 1000, { queue: name, outcome: "failed" });
        const traceId = job?.opts.telemetry?.metadata?.split("-")[1];
        log.error({ err: error, queue: name, jobId: job?.id, traceId, milliseconds }, "job failed");
      });
      workers.push({ worker, connection });
    },
    async check() {
      await asking.ping();
    },
    async close() {
      stopping.abort();
      const closed = new AbortController();
      await Promise.race([
        Promise.all(workers.map(({ worker }) => worker.close())).finally(() => closed.abort()),
        // While Redis is away a worker may never close: it waits for a connection that nobody opens any more.
        Promise.allSettled(underWay).then(() => sleep(closingPatience, closed.signal)),
      ]);
      await queue.close();
      for (const connection of [asking, ...workers.map((each) => each.connection)]) connection.disconnect();
    },
  };
}

/** A queue waits for a first connection for as long as it takes, whatever its connection is told. */
function demandRedis({ status }: Redis): void {
  if (status !== "ready") throw new Error("Redis is away.");
}

/** A job leaves nothing behind: its story is told elsewhere. */
function optionsInQueue({ traceparent, ...options }: JobOptions): JobsOptions {
  const trace = traceparent === undefined ? {} : { telemetry: { metadata: traceparent } };
  return { removeOnComplete: true, removeOnFail: true, ...trace, ...options };
}

function identityOf({ id, opts }: Job, queue: string) {
  const attributes = {
    "messaging.system": "bullmq",
    "messaging.destination.name": queue,
    "messaging.message.id": id ?? "",
  };
  return {
    traceparent: opts.telemetry?.metadata,
    operation: { name: `${queue} process`, kind: SpanKind.CONSUMER, attributes },
  };
}

/** Pauses a worker for a moment whenever Redis refuses writes: it would ask again at once, thousands of times a second. */
export function pauseWhileRedisIsFull(worker: Pick<Worker, "on" | "isPaused" | "pause" | "resume">): void {
  worker.on("error", (error) => {
    if (!isRedisFull(error) || worker.isPaused()) return;
    void worker.pause(true);
    setTimeout(() => void worker.resume(), fullPauseMs).unref();
  });
}

/** For questions and additions: fails at once while Redis is away, instead of waiting for it. */
export function connectForAsking(config: RedisConfig, log: Logger): Redis {
  const connection = openRedis(config, {
    enableOfflineQueue: false,
    commandTimeout: 5_000,
    maxRetriesPerRequest: 1,
    retryStrategy: (times) => Math.min(times * 100, 2_000),
  });
  let isAway = false;
  connection.on("error", (error) => {
    if (!isAway) log.warn({ err: error }, "Redis is away; queues fill again from PostgreSQL when it is back");
    isAway = true;
  });
  connection.on("ready", () => {
    isAway = false;
  });
  return connection;
}

/**
 * For workers, which wait on Redis for as long as it takes; once the signal is given, no longer: a worker would not close
 * as long as Redis is away.
 */
export function connectForWorking(config: RedisConfig, stopping?: AbortSignal): Redis {
  const connection = openRedis(config, {
    maxRetriesPerRequest: null,
    retryStrategy: (times) => (stopping?.aborted ? null : Math.min(times * 100, 2_000)),
  });
  connection.on("error", () => {});
  return connection;
}
