import type { JobResult } from "@pragma/contracts/job";
import type { Database, Transaction } from "@pragma/runtime/postgres";
import {
  acquireJob,
  countRuns,
  deleteJob,
  findUnprepared,
  insertJob,
  type JobKey,
  type JobRow,
  lockJob,
  updateJob,
} from "./queries/jobs.ts";
import { removeFinished } from "./queries/removing.ts";
import { nextDue } from "./repeat.ts";

/** What a job came to. */
type Outcome = { outcome: "completed"; result: JobResult } | { outcome: "failed"; failure: string };

/**
 * Records what a job came to, once; tells its parent or its repeating job; and removes what its options say to remove
 * then. A job that has children to wait for finishes with the last of them.
 */
export async function finishJob(tx: Transaction, key: JobKey, given: Outcome): Promise<void> {
  const job = await lockJob(tx, key);
  if (!job || job.finishedAt) return;
  const { outcome } = given;
  const isCompleted = outcome === "completed";
  const cause = isCompleted ? { result: tx.json({ ...given.result }), failure: null } : { failure: given.failure };
  if (job.runOf !== null) {
    const repeating = { locationId: job.locationId, id: job.runOf };
    await updateJob(tx, repeating, { ...cause, runs: tx`runs + 1` });
    await deleteJob(tx, job);
    return endRepeating(tx, repeating);
  }
  if (isCompleted && job.pendingChildren > 0) {
    await updateJob(tx, job, { isPerformed: true, heldUntil: null, queuedAt: null, progress: 0 });
    return;
  }
  const counts = isCompleted ? { progress: 100 } : { attemptsMade: job.attemptsMade + 1 };
  await updateJob(tx, job, { ...cause, ...counts, outcome, heldUntil: null, finishedAt: tx`now()` });
  await informParent(tx, job, outcome);
  await removeFinished(tx, job, outcome);
}

/** A child that failed, and says nothing of its parent, leaves it waiting. */
async function informParent(tx: Transaction, child: JobRow, outcome: Outcome["outcome"]): Promise<void> {
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
async function endRepeating(tx: Transaction, key: JobKey): Promise<void> {
  if ((await countRuns(tx, key)) > 0) return;
  const outcome = tx`case when failure is null then 'completed' else 'failed' end`;
  await updateJob(tx, key, { outcome, progress: 100, finishedAt: tx`now()` });
}

/**
 * Inserts the next run of a repeating job as a job of its own: the first when the job is created, every other when the
 * one before it begins. Nothing when its limit or end is reached.
 */
export async function scheduleRun(tx: Transaction, job: JobRow): Promise<void> {
  const { repeat, attempts, backoff, priority, keepLogs, stackTraceLimit } = job.options;
  if (!repeat || (repeat.limit !== undefined && job.runs + (await countRuns(tx, job)) >= repeat.limit)) return;
  const due = nextDue(repeat, job.lastDue, Date.now());
  if (due === undefined) return;
  const { locationId, keyId, consumer, duration } = job;
  const options = { attempts, backoff, priority, keepLogs, stackTraceLimit };
  // The message stays with the repeating job.
  const run = { locationId, keyId, consumer, duration, message: "", traceparent: null, timestamp: due };
  await insertJob(tx, { ...run, id: `${job.id}:${due}`, runOf: job.id, options }, new Date(due));
  await updateJob(tx, job, { lastDue: due });
}

/**
 * Begins a job that the queue gives out, unless somebody has it. A run has the message of its repeating job, whose next
 * run is inserted.
 */
export async function beginJob(tx: Transaction, key: JobKey): Promise<JobRow | undefined> {
  const job = await acquireJob(tx, key);
  if (!job || job.runOf === null) return job;
  const repeating = await lockJob(tx, { locationId: job.locationId, id: job.runOf });
  if (repeating?.lastDue === job.timestamp) await scheduleRun(tx, repeating);
  return repeating && { ...job, message: repeating.message };
}

/** Has jobs wait that an older version, which keeps them in queues of its own, creates while it runs beside this one. */
export async function prepareOlderJobs(db: Database): Promise<void> {
  for (const job of await findUnprepared(db.sql, 500)) {
    const { repeat, delay = 0 } = job.options;
    await db.transaction(async (tx) => {
      if (!repeat) return updateJob(tx, job, { queuedAt: null, dueAt: new Date(job.timestamp + delay) });
      await scheduleRun(tx, job);
      await endRepeating(tx, job);
    });
  }
}
