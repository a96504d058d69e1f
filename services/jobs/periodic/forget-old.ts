import type { PeriodicTask } from "@pragma/runtime/define-service";
import type { Jobs } from "../jobs.ts";
import { forgetExcess, forgetOld } from "../queries/forgetting.ts";

const portion = 5_000;

/** Forgets jobs that finished long ago, and the oldest of a location that has too many. */
export const forgetOldJobs: PeriodicTask<Pick<Jobs, "db" | "kept">> = {
  name: "forget old jobs",
  everySeconds: 3_600,
  async run({ db, kept }) {
    while ((await forgetOld(db.sql, { days: kept.days, limit: portion })) === portion);
    while ((await forgetExcess(db.sql, { perLocation: kept.perLocation, limit: portion })) === portion);
  },
};
