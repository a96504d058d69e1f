import type { JobPayload, JobResult } from "@pragma/contracts/job";
import type { Logger } from "@pragma/runtime/logger";
import type { Database, Transaction } from "@pragma/runtime/postgres";
import { withRequestContext } from "@pragma/runtime/request-context";
import { sleep } from "@pragma/runtime/sleep";
import { SpanKind } from "@pragma/runtime/tracing";
import { retryTransient } from "@pragma/runtime/transient-error";
import { type BackoffOptions, Backoffs, type Job as QueuedJob, WaitingError } from "bullmq";
import { beginJob, finishJob } from "./lifecycle.ts";
import { type JobKey, type JobRow, leaseEnd, updateJob } from "./queries/jobs.ts";
import { latestDate } from "./repeat.ts";

/**
 * What doing a job is. `report` tells how far it is, in percent, at least every five seconds; the signal is given when
 * the job has to be given back.
 */
export type Perform = (
  payload: JobPayload,
  { report, signal }: { report: (percent: number) => Promise<void>; signal: AbortSignal },
) => Promise<JobResult>;

/** Waits for as long as the job says, and reports how far that is. */
export const waitOut: Perform = async ({ message, duration }, { report, signal }) => {
  const started = performance.now();
  const waited = () => performance.now() - started;
  const stepMs = Math.min(Math.max(duration / 20, 250), 5_000);
  while (waited() < duration && !signal.aborted) {
    await sleep(Math.min(stepMs, duration - waited()), signal);
    await report(Math.min(100, Math.floor((waited() / duration) * 100)));
  }
  signal.throwIfAborted();
  return { message, waited: Math.round(waited()) };
};

/** What doing jobs needs. */
export interface JobRunner {
  db: Database;
  log: Logger;
  perform: Perform;
}

/**
 * Does a job that the queue gives out. What it comes to is written in PostgreSQL before the queue learns of it, and the
 * process that does it has its lease there: a job that the queue gives out again, because a process died or Redis lost
 * its data, is not done again once it was done, and not twice at the same time. The signal is given when the process
 * stops.
 */
export async function runJob(
  { db, log, perform }: JobRunner,
  { key, queued, signal }: { key: JobKey; queued: QueuedJob; signal: AbortSignal },
): Promise<void> {
  const transact = <T>(work: (tx: Transaction) => Promise<T>) => retryTransient(() => db.transaction(work), signal);
  const job = await transact((tx) => beginJob(tx, key));
  if (!job) return;
  const { locationId, id: jobId, consumer, traceparent, message, duration } = job;
  const attributes = { "pragma.service": "jobs", "messaging.system": "bullmq", "messaging.message.id": jobId };
  const operation = { name: "job process", kind: SpanKind.CONSUMER, attributes };
  /** Renews the lease, too. Operators see it in the queue. */
  const report = async (progress: number) => {
    queued.updateProgress(progress).catch(() => {});
    queued.log(`${new Date().toISOString()} ${progress} %`).catch(() => {});
    await updateJob(db.sql, job, { heldUntil: leaseEnd(db.sql), progress }).catch(() => {});
  };
  await withRequestContext({ traceparent, operation }, async ({ traceId }) => {
    const started = performance.now();
    const fields = () => ({ locationId, jobId, consumer, traceId, milliseconds: performance.now() - started });
    try {
      const result = await perform({ message, duration }, { report, signal });
      await transact((tx) => finishJob(tx, job, { outcome: "completed", result }));
      log.info(fields(), "job");
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause));
      if (signal.aborted) {
        log.info({ ...fields(), isGivenBack: true }, "job");
        await updateJob(db.sql, job, { heldUntil: null, progress: 0 });
        // Another process does it at once.
        await queued.moveToWait(queued.token).catch(() => {});
        throw new WaitingError();
      }
      log.error({ ...fields(), err: error }, "job failed");
      await transact((tx) => recordFailure(tx, job, { queued, error }));
      throw error;
    }
  });
}

/** Ends the job when this was its last attempt; else it waits for the next one. */
async function recordFailure(
  tx: Transaction,
  job: JobRow,
  { queued, error }: { queued: QueuedJob; error: Error },
): Promise<void> {
  const { attempts = 1, backoff = 0 } = job.options;
  const attemptsMade = job.attemptsMade + 1;
  const failure = error.message;
  if (attemptsMade >= attempts) return finishJob(tx, job, { outcome: "failed", failure });
  const strategy = Backoffs.normalize(backoff as number | BackoffOptions);
  const waitMs = strategy ? ((await Backoffs.calculate(strategy, attemptsMade, error, queued)) ?? 0) : 0;
  const due = Math.min(latestDate, Date.now() + waitMs);
  const waiting = { heldUntil: null, queuedAt: null, progress: 0, dueAt: new Date(due), position: due / 1000 };
  await updateJob(tx, job, { ...waiting, attemptsMade, failure });
}
