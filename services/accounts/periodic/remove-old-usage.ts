import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import { deleteRowsInBatches } from "@pragma/runtime/service/remove-expired-rows";
import type { AccountsServiceContext } from "../context.ts";

const dayMs = 24 * 3_600_000;

/** Removes old counts by minute and by day (UTC), and old failed requests. */
export const removeOldUsageTask: PeriodicTask<Pick<AccountsServiceContext, "db" | "usageRetention">> = {
  name: "remove old usage",
  intervalSeconds: 3_600,
  timeoutSeconds: 3_600,
  async run({ db: { sql }, usageRetention: { minutesDays, dailyTotalsDays, failuresDays } }) {
    const today = Math.floor(Date.now() / dayMs) * dayMs;
    const isOlderThan = (days: number) => sql`period_start < ${new Date(today - days * dayMs)}`;
    await deleteRowsInBatches(sql, "request_counts_by_minute", isOlderThan(minutesDays));
    await deleteRowsInBatches(sql, "request_counts_by_day", isOlderThan(dailyTotalsDays));
    const isOldFailure = sql`failed_at < ${new Date(Date.now() - failuresDays * dayMs)}`;
    await deleteRowsInBatches(sql, "failed_requests", isOldFailure);
  },
};
