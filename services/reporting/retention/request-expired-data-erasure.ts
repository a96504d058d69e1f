import { dayMs } from "@pragma/contracts/date-time";
import { listPartitionNames } from "@pragma/runtime/database/partitions";
import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { ReportingContext } from "../context.ts";
import { requestTillDataErasureBefore } from "./request-erasure.ts";

/** Requests the erasure of personal data that is older than the configured retention. */
export const eraseExpiredDataTask: PeriodicTask<Pick<ReportingContext, "db" | "log" | "config">> = {
  name: "erase expired personal data",
  intervalSeconds: 3_600,
  timeoutSeconds: 3_600,
  async run({ db, log, config: { PERSONAL_DATA_RETENTION_DAYS: days } }, context) {
    if (days === undefined) return;
    const before = new Date(Date.now() - days * dayMs).toISOString();
    let tills = 0;
    for (const partition of await listPartitionNames(db.sql, "tills")) {
      const locations = await db.sql<{ locationId: string }[]>`
        select distinct location_id from ${db.sql(partition)} where pushed_at < ${before} and erased_at is null`;
      for (const { locationId } of locations)
        tills += await requestTillDataErasureBefore(db, { locationId, before, traceparent: context?.traceparent });
    }
    if (tills > 0) log.info({ tills }, "requested erasure of expired personal data");
  },
};
