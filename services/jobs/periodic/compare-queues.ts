import type { PeriodicTask } from "@pragma/runtime/define-service";
import type { Jobs } from "../jobs.ts";
import type { JobRow } from "../queries/jobs.ts";
import { findQueued, markUnqueued } from "../queries/queueing.ts";
import { queueNameOf } from "../queues/location-queues.ts";
import { finishJob } from "../running/finish-job.ts";

const portion = 500;

type Comparing = Pick<Jobs, "db" | "queues" | "log">;

/**
 * Looks for every unfinished job in its queue. One that is not there is given to it again; one that its queue has given
 * up, as a parent is whose child failed, has failed.
 */
export const compareQueues: PeriodicTask<Comparing> = {
  name: "compare jobs with their queues",
  everySeconds: 60,
  async run(services) {
    let after: JobRow | undefined;
    do {
      const jobs = await findQueued(services.db.sql, { after, limit: portion });
      await compare(services, jobs);
      after = jobs.length === portion ? jobs.at(-1) : undefined;
    } while (after);
  },
};

async function compare({ db, queues, log }: Comparing, jobs: JobRow[]): Promise<void> {
  if (jobs.length === 0) return;
  const asking = queues.redis.pipeline();
  for (const { location_id, id, options } of jobs) {
    const queue = `${queues.prefix}:${queueNameOf(location_id)}`;
    asking.exists(options.repeat ? `${queue}:repeat:${id}` : `${queue}:${id}`);
    asking.zscore(`${queue}:completed`, id);
    asking.zscore(`${queue}:failed`, id);
  }
  const answers = (await asking.exec())?.map(([error, answer]) => {
    if (error) throw error;
    return answer;
  });
  const lost: JobRow[] = [];
  for (const [index, job] of jobs.entries()) {
    const [isThere, completed, failed] = answers?.slice(index * 3, index * 3 + 3) ?? [];
    if (!isThere || isOver(job)) lost.push(job);
    else if (completed !== null || failed !== null) await settleFinished({ db, queues }, job, lost);
  }
  if (lost.length > 0) log.info({ jobs: lost.length }, "jobs are given to their queues again");
  await markUnqueued(db.sql, lost);
}

/** A repeating job whose last run is past ends when it is fed to its queue. */
function isOver({ options }: JobRow): boolean {
  const endDate = options.repeat?.endDate;
  return endDate !== undefined && new Date(endDate).getTime() <= Date.now();
}

/**
 * A queue's job that has finished, unlike the job: given up by the queue, or left over from another job of the same id.
 * That it was completed would be known, since that is noted first.
 */
async function settleFinished({ db, queues }: Pick<Jobs, "db" | "queues">, job: JobRow, lost: JobRow[]): Promise<void> {
  const found = await queues.of(job.location_id).getJob(job.id);
  const isOfThisJob = (found?.finishedOn ?? 0) >= job.created_at.getTime();
  if (found?.failedReason && isOfThisJob) {
    await finishJob(db, job, { outcome: "failed", failure: found.failedReason });
    return;
  }
  await found?.remove();
  lost.push(job);
}
