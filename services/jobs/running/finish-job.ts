import type { Database } from "@pragma/runtime/postgres";
import { findJob, type JobKey } from "../queries/jobs.ts";
import { forgetFinished, noteOutcome, type Outcome } from "../queries/runs.ts";

/** Notes what a job came to, once, and forgets what its options say to forget then. */
export async function finishJob(db: Database, key: JobKey, given: Outcome): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await noteOutcome(tx, key, given))) return;
    const job = await findJob(tx, key);
    const { removeOnComplete, removeOnFail } = job?.options ?? {};
    await forgetFinished(
      tx,
      { ...key, outcome: given.outcome },
      given.outcome === "completed" ? removeOnComplete : removeOnFail,
    );
  });
}
