import type { PeriodicTask } from "@pragma/runtime/define-service";
import type { Jobs } from "../jobs.ts";
import { forgetOld } from "../queries/runs.ts";

const portion = 5_000;

/** Forgets jobs that finished long ago. */
export const forgetOldJobs: PeriodicTask<Pick<Jobs, "db" | "keptDays">> = {
  name: "forget old jobs",
  everySeconds: 3_600,
  async run({ db, keptDays }) {
    while ((await forgetOld(db.sql, { days: keptDays, limit: portion })) === portion);
  },
};
