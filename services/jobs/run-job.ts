import type { JobPayload, JobResult } from "@pragma/contracts/job";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import type { Database, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { Logger } from "@pragma/runtime/observability/logger";
import { runWithRequestContext } from "@pragma/runtime/observability/request-context";
import { SpanKind } from "@pragma/runtime/observability/tracing";
import { retryTransient } from "@pragma/runtime/retries/transient-error";
import { type BackoffOptions, Backoffs, type Job as QueuedJob, WaitingError } from "bullmq";
import {
  acquireJobLease,
  countUnfinishedRuns,
  deleteJob,
  insertJob,
  type JobKey,
  type JobRow,
  type LeasedJobKey,
  leaseExpiry,
  lockJob,
  updateJob,
} from "./queries/jobs.ts";
import { applyJobRetention } from "./queries/remove-jobs.ts";
import { computeNextDueMs, latestDueMs } from "./repeat-schedule.ts";

/** What a job came to. */
type JobOutcome = { outcome: "completed"; result: JobResult } | { outcome: "failed"; failure: string };

/**
 * Records what a job came to, once; tells its parent or its repeating job; and removes what its options say to remove
 * then. A job that has children to wait for finishes with the last of them. A process whose lease is another's by now
 * changes nothing.
 */
async function finishJob(tx: SqlTransaction, key: LeasedJobKey, jobOutcome: JobOutcome): Promise<void> {
  const job = await lockJob(tx, key);
  if (!job || job.finishedAt || (key.leaseId !== undefined && key.leaseId !== job.leaseId)) return;
  const { outcome } = jobOutcome;
  const isCompleted = outcome === "completed";
  const resultFields = isCompleted
    ? { result: tx.json({ ...jobOutcome.result }), failure: null }
    : { failure: jobOutcome.failure };
  if (job.runOf !== null) {
    const repeating = { locationId: job.locationId, id: job.runOf };
    await updateJob(tx, repeating, { ...resultFields, runs: tx`runs + 1` });
    await deleteJob(tx, job);
    return finishRepeatingJob(tx, repeating);
  }
  if (isCompleted && job.pendingChildren > 0) {
    await updateJob(tx, job, { isPerformed: true, heldUntil: null, queuedAt: null, progress: 0 });
    return;
  }
  const counts = isCompleted ? { progress: 100 } : { attemptsMade: job.attemptsMade + 1 };
  await updateJob(tx, job, { ...resultFields, ...counts, outcome, heldUntil: null, finishedAt: tx`now()` });
  await updateParentJob(tx, job, outcome);
  await applyJobRetention(tx, job, outcome);
}

/** A child that failed, and says nothing of its parent, leaves it waiting. */
async function updateParentJob(tx: SqlTransaction, child: JobRow, outcome: JobOutcome["outcome"]): Promise<void> {
  const { parent, failParentOnFailure, ignoreDependencyOnFailure, removeDependencyOnFailure } = child.options;
  if (!parent) return;
  const key = { locationId: child.locationId, id: parent.id };
  if (outcome === "failed" && failParentOnFailure) {
    await finishJob(tx, key, { outcome, failure: `child ${child.id} failed` });
  } else if (outcome === "completed" || ignoreDependencyOnFailure || removeDependencyOnFailure) {
    const waiting = await updateJob(tx, key, { pendingChildren: tx`greatest(0, pending_children - 1)` });
    if (!waiting?.isPerformed || waiting.pendingChildren > 0) return;
    const { message, duration } = waiting;
    await finishJob(tx, key, { outcome: "completed", result: { message, waited: duration } });
  }
}

/** Ends a repeating job that has no run left: the next is inserted when one begins, until the limit or end. */
async function finishRepeatingJob(tx: SqlTransaction, key: JobKey): Promise<void> {
  if ((await countUnfinishedRuns(tx, key)) > 0) return;
  const outcome = tx`case when failure is null then 'completed' else 'failed' end`;
  await updateJob(tx, key, { outcome, progress: 100, finishedAt: tx`now()` });
}

/**
 * Inserts the next run of a repeating job as a job of its own: the first when the job is created, every other when the
 * one before it begins. Nothing when its limit or end is reached.
 */
export async function insertNextRun(tx: SqlTransaction, job: JobRow): Promise<void> {
  const { repeat, attempts, backoff, priority, lifo, keepLogs, stackTraceLimit } = job.options;
  if (!repeat || (repeat.limit !== undefined && job.runs + (await countUnfinishedRuns(tx, job)) >= repeat.limit))
    return;
  const dueMs = computeNextDueMs(repeat, job.lastDue, Date.now());
  if (dueMs === undefined) return;
  const { locationId, keyId, consumer, duration } = job;
  const options = { attempts, backoff, priority, lifo, keepLogs, stackTraceLimit };
  // The message stays with the repeating job.
  const run = { locationId, keyId, consumer, duration, message: "", traceparent: null, timestamp: dueMs };
  await insertJob(tx, { ...run, id: `${job.id}:${dueMs}`, runOf: job.id, options }, new Date(dueMs));
  await updateJob(tx, job, { lastDue: dueMs });
}

/**
 * Begins a job that the queue gives out, unless somebody has it. A run has the message of its repeating job, whose next
 * run is inserted.
 */
async function startJob(tx: SqlTransaction, key: JobKey): Promise<JobRow | undefined> {
  const job = await acquireJobLease(tx, key);
  if (!job || job.runOf === null) return job;
  const repeating = await lockJob(tx, { locationId: job.locationId, id: job.runOf });
  if (repeating?.lastDue === job.timestamp) await insertNextRun(tx, repeating);
  return repeating && { ...job, message: repeating.message };
}

/**
 * What doing a job is. `report` tells how far it is, in percent, at least every five seconds; the signal is given when
 * the job has to be given back.
 */
export type PerformJob = (
  payload: JobPayload,
  { report, signal }: { report: (percent: number) => Promise<void>; signal: AbortSignal },
) => Promise<JobResult>;

/** Waits for as long as the job says, and reports how far that is. */
export const waitForJobDuration: PerformJob = async ({ message, duration }, { report, signal }) => {
  const startedAtMs = performance.now();
  const elapsedMs = () => performance.now() - startedAtMs;
  const stepMs = Math.min(Math.max(duration / 20, 250), 5_000);
  while (elapsedMs() < duration && !signal.aborted) {
    await sleep(Math.min(stepMs, duration - elapsedMs()), signal);
    await report(Math.min(100, Math.floor((elapsedMs() / duration) * 100)));
  }
  signal.throwIfAborted();
  return { message, waited: Math.round(elapsedMs()) };
};

/** What doing jobs needs. */
export interface RunJobServices {
  db: Database;
  log: Logger;
  perform: PerformJob;
}

/**
 * Does a job that the queue gives out. What it comes to is written in PostgreSQL before the queue learns of it, and the
 * process that does it has its lease there: a job that the queue gives out again, because a process died or Redis lost
 * its data, is not done again once it was done, and not twice at the same time. The signal is given when the process
 * stops.
 */
export async function runJob(
  { db, log, perform }: RunJobServices,
  { key, queued, signal }: { key: JobKey; queued: QueuedJob; signal: AbortSignal },
): Promise<void> {
  const inTransaction = <T>(work: (tx: SqlTransaction) => Promise<T>) =>
    retryTransient(() => db.transaction(work), signal);
  const job = await inTransaction((tx) => startJob(tx, key));
  if (!job) return;
  const { locationId, id: jobId, consumer, traceparent, message, duration } = job;
  const attributes = { "pragma.service": "jobs", "messaging.system": "bullmq", "messaging.message.id": jobId };
  const operation = { name: "job process", kind: SpanKind.CONSUMER, attributes };
  /** Renews the lease, too. Operators see it in the queue. */
  const reportProgress = async (progress: number) => {
    queued.updateProgress(progress).catch(() => {});
    queued.log(`${new Date().toISOString()} ${progress} %`).catch(() => {});
    await updateJob(db.sql, job, { heldUntil: leaseExpiry(db.sql), progress }).catch(() => {});
  };
  await runWithRequestContext({ traceparent, operation }, async ({ traceId }) => {
    const startedAtMs = performance.now();
    const logFields = () => ({ locationId, jobId, consumer, traceId, milliseconds: performance.now() - startedAtMs });
    try {
      const result = await perform({ message, duration }, { report: reportProgress, signal });
      await inTransaction((tx) => finishJob(tx, job, { outcome: "completed", result }));
      log.info(logFields(), "job");
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause));
      if (signal.aborted) {
        log.info({ ...logFields(), isGivenBack: true }, "job");
        await updateJob(db.sql, job, { heldUntil: null, progress: 0 });
        // Another process does it at once.
        await queued.moveToWait(queued.token).catch(() => {});
        throw new WaitingError();
      }
      log.error({ ...logFields(), err: error }, "job failed");
      await inTransaction((tx) => recordJobFailure(tx, job, { queued, error }));
      throw error;
    }
  });
}

/** Ends the job when this was its last attempt; else it waits for the next one. */
async function recordJobFailure(
  tx: SqlTransaction,
  job: JobRow,
  { queued, error }: { queued: QueuedJob; error: Error },
): Promise<void> {
  const { attempts = 1, backoff = 0 } = job.options;
  const attemptsMade = job.attemptsMade + 1;
  const failure = error.message;
  if (attemptsMade >= attempts) return finishJob(tx, job, { outcome: "failed", failure });
  const strategy = Backoffs.normalize(backoff as number | BackoffOptions);
  const backoffMs = strategy ? ((await Backoffs.calculate(strategy, attemptsMade, error, queued)) ?? 0) : 0;
  const dueMs = Math.min(latestDueMs, Date.now() + backoffMs);
  const waitingFields = {
    heldUntil: null,
    queuedAt: null,
    progress: 0,
    dueAt: new Date(dueMs),
    position: dueMs / 1000,
  };
  await updateJob(tx, job, { ...waitingFields, attemptsMade, failure });
}
