import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import { deleteRowsInBatches } from "@pragma/runtime/service/remove-expired-rows";
import type { AccountsServiceContext } from "../context.ts";

const dayMs = 24 * 3_600_000;

export const removeOldUsageTask: PeriodicTask<Pick<AccountsServiceContext, "db" | "config">> = {
  name: "remove old usage",
  intervalSeconds: 3_600,
  timeoutSeconds: 3_600,
  async run({ db: { sql }, config }) {
    const today = Math.floor(Date.now() / dayMs) * dayMs;
    const isOlderThan = (days: number) => sql`period_start < ${new Date(today - days * dayMs)}`;
    await deleteRowsInBatches(sql, "request_counts_by_minute", isOlderThan(config.USAGE_MINUTES_RETENTION_DAYS));
    await deleteRowsInBatches(sql, "request_counts_by_day", isOlderThan(config.USAGE_DAYS_RETENTION_DAYS));
    const oldestFailure = new Date(Date.now() - config.FAILED_REQUESTS_RETENTION_DAYS * dayMs);
    await deleteRowsInBatches(sql, "failed_requests", sql`failed_at < ${oldestFailure}`);
  },
};
