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

/** A job as a queue has it: its id, when it is due, and nothing of what it is about. */
export type QueuedJob = Job<Record<string, never>, void>;
type JobQueue = Queue<Record<string, never>, void>;
type JobWorker = Worker<Record<string, never>, void>;

/** What is done with each job that comes up. */
export interface JobHandler {
  run(locationId: string, job: QueuedJob, token: string, signal: AbortSignal): Promise<void>;
  /** The queue has given a job up, perhaps without its having been run. */
  failed(locationId: string, job: QueuedJob, error: Error): void;
}

/**
 * The queues of all locations: each has its own, so that what its jobs say of order, duplicates and forgetting concerns
 * no other, and so that none waits for another's.
 */
export interface LocationQueues {
  of(locationId: string): JobQueue;
  /** Those that are open in this process. */
  opened(): JobQueue[];
  /** Begins to do the location's jobs, unless that is so already. */
  work(locationId: string): void;
  /** Begins to do the jobs of these locations, and ceases to do those of others. */
  workOnly(locationIds: string[]): Promise<void>;
  handle(handler: JobHandler): void;
  /** For questions about many queues at once. */
  redis: ReturnType<typeof connectForAsking>;
  /** What every key of the queues begins with. */
  prefix: string;
  check(): Promise<void>;
  /** Gives back what is being done, and closes. */
  close(): Promise<void>;
}

interface Opened {
  queue: JobQueue;
  worker?: JobWorker;
  /** When it was last asked for. */
  usedAt: number;
}

export const queueNameOf = (locationId: string) => `jobs-${locationId}`;

/** How long closing may take, in milliseconds. */
const patience = 5_000;
/**
 * How often a job may lose its worker before its queue gives it up. Redis that takes no writes looks like that too, and
 * a job that comes up again is not done twice.
 */
const maxStalledCount = 100;
/** A worker without work is left open for so many milliseconds. */
const idleTime = 60_000;

export function openLocationQueues(
  config: z.infer<typeof jobQueueConfig>,
  { concurrency, log }: { concurrency: number; log: Logger },
): LocationQueues {
  const prefix = config.NAMESPACE;
  const stopping = new AbortController();
  const asking = connectForAsking(config, log);
  const working = connectForWorking(config);
  const opened = new Map<string, Opened>();
  let handler: JobHandler | undefined;

  function open(locationId: string): Opened {
    const known = opened.get(locationId);
    if (known) return known;
    const queue: JobQueue = new Queue(queueNameOf(locationId), {
      connection: asking,
      prefix,
      skipVersionCheck: true,
      streams: unreadEvents,
    });
    queue.on("error", () => {});
    const made = { queue, usedAt: Date.now() };
    opened.set(locationId, made);
    return made;
  }

  function openWorker(locationId: string, { run, failed }: JobHandler): JobWorker {
    const worker: JobWorker = new Worker(
      queueNameOf(locationId),
      (job, token = "") => run(locationId, job, token, stopping.signal),
      { connection: working, prefix, concurrency, skipVersionCheck: true, maxStalledCount },
    );
    worker.on("error", (error) => log.debug({ err: error, locationId }, "queue worker"));
    pauseWhileRedisIsFull(worker);
    worker.on("failed", (job, error) => job && failed(locationId, job, error));
    return worker;
  }

  function work(locationId: string): void {
    if (!handler || stopping.signal.aborted) return;
    const location = open(locationId);
    location.usedAt = Date.now();
    location.worker ??= openWorker(locationId, handler);
  }

  async function closeLocation(locationId: string): Promise<void> {
    const location = opened.get(locationId);
    opened.delete(locationId);
    // What has to be given back cannot be while Redis is away: it then comes up again when nobody holds it any more.
    await Promise.race([location?.worker?.close(), sleep(patience)]);
    await Promise.race([location?.queue.close(), sleep(patience)]);
  }

  return {
    of(locationId) {
      const location = open(locationId);
      location.usedAt = Date.now();
      return location.queue;
    },
    opened: () => [...opened.values()].map(({ queue }) => queue),
    work,
    async workOnly(locationIds) {
      for (const locationId of locationIds) work(locationId);
      const before = Date.now() - idleTime;
      const idle = [...opened].filter(([, { usedAt }]) => usedAt < before).map(([locationId]) => locationId);
      await Promise.all(idle.map(closeLocation));
    },
    handle(given) {
      handler = given;
    },
    redis: asking,
    prefix,
    async check() {
      await asking.ping();
    },
    async close() {
      stopping.abort();
      await Promise.all([...opened.keys()].map(closeLocation));
      for (const connection of [asking, working]) connection.disconnect();
    },
  };
}
