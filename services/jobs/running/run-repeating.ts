import { WaitingError } from "bullmq";
import { instantOf } from "../check-repeat.ts";
import { findJob } from "../queries/jobs.ts";
import { endRepeating, noteRun, type Outcome } from "../queries/runs.ts";
import { persistently, type Running, type Turn, tell, unlessLost } from "./turn.ts";

/** Does a repeating job once. A run that was done, and comes up again, is not done again. */
export async function runRepeating(
  { db, perform }: Running,
  { locationId, job, token, signal }: Turn & { locationId: string },
): Promise<void> {
  const key = { location_id: locationId, id: job.repeatJobKey ?? "" };
  const due = dueOf(job.id ?? "");
  const known = await persistently(() => findJob(db.sql, key), signal);
  if (!known || known.finished_at || known.last_due === due) return;
  const endDate = known.options.repeat?.endDate;
  if (endDate !== undefined && due > instantOf(endDate)) {
    await persistently(() => db.transaction((tx) => endRepeating(tx, key)), signal);
    return;
  }
  const note = (given: Outcome) =>
    persistently(
      () =>
        db.transaction(async (tx) => {
          const noted = await noteRun(tx, key, { due, given });
          const limit = noted?.options.repeat?.limit;
          if (noted && limit !== undefined && noted.runs >= limit) await endRepeating(tx, key);
        }),
      signal,
    );
  try {
    const { message, duration } = known;
    const result = await perform({ message, duration }, { report: (percent) => tell(job, percent), signal });
    await note({ outcome: "completed", result });
  } catch (error) {
    if (signal.aborted) {
      await unlessLost(job.moveToWait(token));
      throw new WaitingError();
    }
    const isLast = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
    if (isLast) await note({ outcome: "failed", failure: error instanceof Error ? error.message : String(error) });
    throw error;
  }
}

/** A run's id ends with when it was due, in milliseconds since 1970. */
function dueOf(runId: string): number {
  return Number(runId.slice(runId.lastIndexOf(":") + 1));
}
