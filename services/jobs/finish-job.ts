import type { Transaction } from "@pragma/runtime/postgres";
import type { JobKey, JobRow } from "./queries/jobs.ts";
import {
  endRepeating,
  forgetFinished,
  lockUnfinished,
  type Outcome,
  recordOutcome,
  recordPerformed,
  recordRun,
  releaseParent,
} from "./queries/outcomes.ts";

/**
 * Records what a job came to, once; tells its parent or its repeating job; and forgets what its options say to forget
 * then. A job that has children to wait for finishes with the last of them.
 */
export async function finishJob(tx: Transaction, key: JobKey, given: Outcome): Promise<void> {
  const job = await lockUnfinished(tx, key);
  if (!job) return;
  if (job.run_of !== null) {
    await recordRun(tx, job, given);
    // The next run was inserted when this one began: there is none when the limit or the end was reached.
    await endRepeating(tx, { location_id: job.location_id, id: job.run_of });
    return;
  }
  if (given.outcome === "completed" && job.pending_children > 0) {
    await recordPerformed(tx, job);
    return;
  }
  await recordOutcome(tx, job, given);
  await informParent(tx, job, given.outcome);
  const { removeOnComplete, removeOnFail } = job.options;
  const keep = given.outcome === "completed" ? removeOnComplete : removeOnFail;
  await forgetFinished(tx, { ...key, outcome: given.outcome }, keep);
}

/** A child that failed, and says nothing of its parent, leaves it waiting. */
async function informParent(tx: Transaction, child: JobRow, outcome: Outcome["outcome"]): Promise<void> {
  const { parent, failParentOnFailure, ignoreDependencyOnFailure, removeDependencyOnFailure } = child.options;
  if (!parent) return;
  const parentKey = { location_id: child.location_id, id: parent.id };
  if (outcome === "failed" && failParentOnFailure) {
    await finishJob(tx, parentKey, { outcome, failure: `child ${child.id} failed` });
  } else if (outcome === "completed" || ignoreDependencyOnFailure || removeDependencyOnFailure) {
    const waiting = await releaseParent(tx, parentKey);
    if (!waiting?.is_performed || waiting.pending_children > 0) return;
    const { message, duration } = waiting;
    await finishJob(tx, parentKey, { outcome: "completed", result: { message, waited: duration } });
  }
}
