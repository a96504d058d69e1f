import type { Logger } from "@pragma/runtime/logger";
import type { Database } from "@pragma/runtime/postgres";
import { withRequestContext } from "@pragma/runtime/request-context";
import { sleep } from "@pragma/runtime/sleep";
import { SpanKind } from "@pragma/runtime/tracing";
import { isTransient } from "@pragma/runtime/transient-error";
import { type BackoffOptions, Backoffs, WaitingError } from "bullmq";
import { latestDate } from "./check-repeat.ts";
import { finishJob, type Outcome } from "./finish-job.ts";
import { type JobKey, type JobRow, lockJob, updateJob } from "./queries/jobs.ts";
import { acquireJob, leaseEnd, leaseSeconds } from "./queries/waiting.ts";
import type { JobHandler, QueuedJob } from "./queue.ts";
import { scheduleRun } from "./repeat-job.ts";
import type { Perform } from "./wait-out.ts";

/** What doing jobs needs. */
interface Running {
  db: Database;
  log: Logger;
  perform: Perform;
}

/**
 * Does the jobs that the queue gives out. What a job comes to is written in PostgreSQL before the queue learns of it,
 * and the process that does a job has its lease there: a job that the queue gives out again, because a process died or
 * Redis lost its data, is not done again once it was done, and not twice at the same time.
 */
export function jobHandler(running: Running): JobHandler {
  const { db, log, perform } = running;
  return async (queued, token, signal) => {
    const job = await retryTransient(() => acquire(db, queued.data), signal);
    if (!job) return;
    const { location_id: locationId, id: jobId, consumer, traceparent } = job;
    const attributes = { "pragma.service": "jobs", "messaging.system": "bullmq", "messaging.message.id": jobId };
    const operation = { name: "job process", kind: SpanKind.CONSUMER, attributes };
    await withRequestContext({ traceparent, operation }, async ({ trace: { traceId }, logFields }) => {
      const started = performance.now();
      const fields = () => ({ locationId, jobId, consumer, traceId, milliseconds: performance.now() - started });
      try {
        const result = await performLeased(db, job, { queued, perform, signal });
        await retryTransient(() => finish(db, job, { outcome: "completed", result }), signal);
        log.info({ ...fields(), ...logFields }, "job");
      } catch (cause) {
        const error = cause instanceof Error ? cause : new Error(String(cause));
        if (signal.aborted) {
          log.info({ ...fields(), isGivenBack: true }, "job");
          await returnToQueue(db, job, { queued, token });
        }
        log.error({ ...fields(), err: error }, "job failed");
        await retryTransient(() => recordFailure(db, job, { queued, error }), signal);
        throw error;
      }
    });
  };
}

/** Acquires a job's lease. A run has the message of its repeating job, and the next run is inserted when it begins. */
function acquire(db: Database, key: JobKey): Promise<JobRow | undefined> {
  return db.transaction(async (tx) => {
    const job = await acquireJob(tx, key);
    if (!job || job.run_of === null) return job;
    const repeating = await lockJob(tx, { location_id: job.location_id, id: job.run_of });
    if (!repeating) return undefined;
    if (repeating.last_due === job.timestamp) await scheduleRun(tx, repeating);
    return { ...job, message: repeating.message };
  });
}

/** Does a job, and renews its lease meanwhile. The queue is told how far it is, for clients and operators to see. */
async function performLeased(
  db: Database,
  job: JobRow,
  { queued, perform, signal }: { queued: QueuedJob; perform: Perform; signal: AbortSignal },
) {
  let progress = 0;
  const report = (percent: number) => {
    progress = percent;
    queued.updateProgress(percent).catch(() => {});
    queued.log(`${new Date().toISOString()} ${percent} %`).catch(() => {});
  };
  const renew = () => updateJob(db.sql, job, { held_until: leaseEnd(db.sql), progress }).catch(() => {});
  const renewing = setInterval(renew, (leaseSeconds * 1000) / 3);
  try {
    return await perform({ message: job.message, duration: job.duration }, { report, signal });
  } finally {
    clearInterval(renewing);
  }
}

function finish(db: Database, job: JobRow, given: Outcome): Promise<void> {
  return db.transaction((tx) => finishJob(tx, job, given));
}

/** Ends the job when this was its last attempt; else it waits for the next one. */
async function recordFailure(
  db: Database,
  job: JobRow,
  { queued, error }: { queued: QueuedJob; error: Error },
): Promise<void> {
  const failure = error.message;
  const { attempts = 1, backoff = 0 } = job.options;
  const attemptsMade = job.attempts_made + 1;
  if (attemptsMade >= attempts) return finish(db, job, { outcome: "failed", failure });
  const strategy = Backoffs.normalize(backoff as number | BackoffOptions);
  const waitMs = strategy ? ((await Backoffs.calculate(strategy, attemptsMade, error, queued)) ?? 0) : 0;
  const due = Math.min(latestDate, Date.now() + waitMs);
  const waiting = { held_until: null, queued_at: null, progress: 0, due_at: new Date(due), position: due / 1000 };
  await updateJob(db.sql, job, { ...waiting, attempts_made: attemptsMade, failure });
}

/** Another process does the job at once. */
async function returnToQueue(db: Database, job: JobRow, { queued, token }: { queued: QueuedJob; token: string }) {
  await updateJob(db.sql, job, { held_until: null, progress: 0 });
  await queued.moveToWait(token).catch(() => {});
  throw new WaitingError();
}

/** Repeats what fails for a cause that passes, until the signal is given. */
async function retryTransient<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || signal.aborted) throw error;
      await sleep(500, signal);
    }
  }
}
