import type { JobPayload, JobResult } from "@pragma/contracts/job";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import type { Database, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { Logger } from "@pragma/runtime/observability/logger";
import { runWithObservabilityContext } from "@pragma/runtime/observability/request-context";
import { SpanKind } from "@pragma/runtime/observability/tracing";
import { retryTransient } from "@pragma/runtime/retries/transient-error";
import { type BackoffOptions, Backoffs, type Job as QueuedJob, WaitingError } from "bullmq";
import {
  countUnfinishedRuns,
  deleteJobRow,
  type JobKeyWithOptionalLease,
  type JobPrimaryKey,
  type JobRow,
  jobColumns,
  lockJobRow,
  newJobLeaseExpirySql,
  updateUnfinishedJobRow,
} from "./queries/jobs.ts";
import { deleteJobRowsExceedingRetention } from "./queries/remove-jobs.ts";
import { insertNextJobRun } from "./repeat-job.ts";
import { maxJobDueTimeMs } from "./repeat-schedule.ts";

type JobOutcome = { outcome: "completed"; result: JobResult } | { outcome: "failed"; failure: string };

/**
 * Records the outcome of a job, updates its parent or its repeating job, and applies its retention options. If a
 * completed job still waits for children, it finishes when the last of them finishes. Changes nothing if the job has
 * already finished, or if `key` contains a lease id other than that of the job's latest lease.
 */
async function finishJob(tx: SqlTransaction, key: JobKeyWithOptionalLease, jobOutcome: JobOutcome): Promise<void> {
  const job = await lockJobRow(tx, key);
  if (!job || job.finishedAt || (key.leaseId !== undefined && key.leaseId !== job.leaseId)) return;
  const { outcome } = jobOutcome;
  const isCompleted = outcome === "completed";
  const resultFields = isCompleted
    ? { result: tx.json({ ...jobOutcome.result }), failure: null }
    : { failure: jobOutcome.failure };
  if (job.repeatingJobId !== null) {
    const repeating = { locationId: job.locationId, id: job.repeatingJobId };
    await updateUnfinishedJobRow(tx, repeating, { ...resultFields, runs: tx`runs + 1` });
    await deleteJobRow(tx, job);
    // An unfinished run exists until the limit or end date is reached, because each run inserts the next run when it starts.
    if ((await countUnfinishedRuns(tx, repeating)) > 0) return;
    const lastOutcome = tx`case when failure is null then 'completed' else 'failed' end`;
    await updateUnfinishedJobRow(tx, repeating, { outcome: lastOutcome, progress: 100, finishedAt: tx`now()` });
    return;
  }
  if (isCompleted && job.pendingChildren > 0) {
    await updateUnfinishedJobRow(tx, job, { isWorkDone: true, leaseExpiresAt: null, queuedAt: null, progress: 0 });
    return;
  }
  const counts = isCompleted ? { progress: 100 } : { attemptsMade: job.attemptsMade + 1 };
  const endFields = { outcome, leaseExpiresAt: null, finishedAt: tx`now()` };
  await updateUnfinishedJobRow(tx, job, { ...resultFields, ...counts, ...endFields });
  await updateParentJob(tx, job, outcome);
  await deleteJobRowsExceedingRetention(tx, job, outcome);
}

/** Updates the parent of a finished child. By default, the parent of a failed child waits forever. */
async function updateParentJob(tx: SqlTransaction, child: JobRow, outcome: JobOutcome["outcome"]): Promise<void> {
  const { parent, failParentOnFailure, ignoreDependencyOnFailure, removeDependencyOnFailure } = child.options;
  if (!parent) return;
  const key = { locationId: child.locationId, id: parent.id };
  if (outcome === "failed" && failParentOnFailure) {
    await finishJob(tx, key, { outcome, failure: `child ${child.id} failed` });
  } else if (outcome === "completed" || ignoreDependencyOnFailure || removeDependencyOnFailure) {
    const pendingChildren = tx`greatest(0, pending_children - 1)`;
    const waitingParent = await updateUnfinishedJobRow(tx, key, { pendingChildren });
    if (!waitingParent?.isWorkDone || waitingParent.pendingChildren > 0) return;
    const { message, duration } = waitingParent;
    await finishJob(tx, key, { outcome: "completed", result: { message, waited: duration } });
  }
}

/**
 * Acquires the lease of a queued job and returns the job. Returns undefined if the job must not run now, for example
 * because another process holds the lease. For a run of a repeating job, inserts the next run unless an earlier attempt
 * has inserted it, and returns the current run with the message of the repeating job.
 */
async function startJob(tx: SqlTransaction, { locationId, id }: JobPrimaryKey): Promise<JobRow | undefined> {
  const [job] = await tx<JobRow[]>`
    update location_jobs set lease_expires_at = ${newJobLeaseExpirySql(tx)}, lease_id = gen_random_uuid()
    where location_id = ${locationId} and id = ${id} and finished_at is null and queued_at is not null
      and coalesce(lease_expires_at < now(), true)
    returning ${jobColumns(tx)}`;
  if (!job || job.repeatingJobId === null) return job;
  const repeating = await lockJobRow(tx, { locationId, id: job.repeatingJobId });
  if (repeating?.lastDueMs === job.timestamp) await insertNextJobRun(tx, repeating);
  return repeating && { ...job, message: repeating.message };
}

/**
 * Does the work of a job and returns its result. The function must call `reportProgress` with a percentage at least
 * every five seconds, because each call renews the job's lease, which would expire after 15 seconds. The signal is
 * aborted when the process stops and the job must return to the queue.
 */
export type JobHandler = (
  payload: JobPayload,
  { reportProgress, signal }: { reportProgress: (percent: number) => Promise<void>; signal: AbortSignal },
) => Promise<JobResult>;

export const sleepForJobDuration: JobHandler = async ({ message, duration }, { reportProgress, signal }) => {
  const startedAtMs = performance.now();
  const elapsedMs = () => performance.now() - startedAtMs;
  const stepMs = Math.min(Math.max(duration / 20, 250), 5_000);
  while (elapsedMs() < duration && !signal.aborted) {
    await sleep(Math.min(stepMs, duration - elapsedMs()), signal);
    await reportProgress(Math.min(100, Math.floor((elapsedMs() / duration) * 100)));
  }
  signal.throwIfAborted();
  return { message, waited: Math.round(elapsedMs()) };
};

export interface JobRunnerDependencies {
  db: Database;
  log: Logger;
  perform: JobHandler;
}

/**
 * Runs a job that BullMQ delivers. The process holds a lease in PostgreSQL while it runs the job, and writes the
 * outcome to PostgreSQL before it reports the outcome to BullMQ. A job is delivered again if a process dies or Redis
 * loses its data. Such a job does not run if it has already finished, or while another process runs it. The signal is
 * aborted when the process stops.
 */
export async function runJob(
  { db, log, perform }: JobRunnerDependencies,
  { key, queued, signal }: { key: JobPrimaryKey; queued: QueuedJob; signal: AbortSignal },
): Promise<void> {
  const inTransaction = <T>(work: (tx: SqlTransaction) => Promise<T>) =>
    retryTransient(() => db.transaction(work), signal);
  const job = await inTransaction((tx) => startJob(tx, key));
  if (!job) return;
  const { locationId, id: jobId, consumer, traceparent, message, duration } = job;
  const attributes = { "pragma.service": "jobs", "messaging.system": "bullmq", "messaging.message.id": jobId };
  const operation = { name: "job process", kind: SpanKind.CONSUMER, attributes };
  /** Also renews the lease, and shows the progress to operators on the BullMQ board. */
  const reportProgress = async (progress: number) => {
    queued.updateProgress(progress).catch(() => {});
    queued.log(`${new Date().toISOString()} ${progress} %`).catch(() => {});
    const leaseExpiresAt = newJobLeaseExpirySql(db.sql);
    await updateUnfinishedJobRow(db.sql, job, { leaseExpiresAt, progress }).catch(() => {});
  };
  await runWithObservabilityContext({ traceparent, operation }, async ({ traceId }) => {
    const startedAtMs = performance.now();
    const logFields = () => ({ locationId, jobId, consumer, traceId, milliseconds: performance.now() - startedAtMs });
    try {
      const result = await perform({ message, duration }, { reportProgress, signal });
      await inTransaction((tx) => finishJob(tx, job, { outcome: "completed", result }));
      log.info(logFields(), "job finished");
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause));
      if (signal.aborted) {
        log.info({ ...logFields(), isRequeued: true }, "job requeued");
        await updateUnfinishedJobRow(db.sql, job, { leaseExpiresAt: null, progress: 0 });
        // Returns the job to the BullMQ queue, so that another process can start it immediately.
        await queued.moveToWait(queued.token).catch(() => {});
        throw new WaitingError();
      }
      log.error({ ...logFields(), err: error }, "job failed");
      await inTransaction((tx) => recordJobFailure(tx, job, queued, error));
      throw error;
    }
  });
}

/** Records a failed attempt: schedules the next attempt, or finishes the job if this was the last one allowed. */
async function recordJobFailure(tx: SqlTransaction, job: JobRow, queued: QueuedJob, error: Error): Promise<void> {
  const { attempts = 1, backoff = 0 } = job.options;
  const attemptsMade = job.attemptsMade + 1;
  const failure = error.message;
  if (attemptsMade >= attempts) return finishJob(tx, job, { outcome: "failed", failure });
  const strategy = Backoffs.normalize(backoff as number | BackoffOptions);
  const backoffMs = strategy ? ((await Backoffs.calculate(strategy, attemptsMade, error, queued)) ?? 0) : 0;
  const dueMs = Math.min(maxJobDueTimeMs, Date.now() + backoffMs);
  const due = { dueAt: new Date(dueMs), sortPosition: dueMs / 1000 };
  const waitingFields = { ...due, leaseExpiresAt: null, queuedAt: null, progress: 0 };
  await updateUnfinishedJobRow(tx, job, { ...waitingFields, attemptsMade, failure });
}
