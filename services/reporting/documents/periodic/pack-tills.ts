import { listPartitionNames } from "@pragma/runtime/database/partitions";
import { isCanceledStatementError, isRemovedLocationError, isTransient } from "@pragma/runtime/retries/transient-error";
import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { ReportingContext } from "../../context.ts";
import { packTill } from "../packing/pack-till.ts";
import { listTillsToPack } from "../queries/reports.ts";

/** About twelve seconds of work on a slow machine. The pause before the next run leaves the database to requests. */
const maxTillsPerRun = 25;

/** When tills that could not be packed are tried again, by their ids, in the milliseconds of `Date.now`. */
const retryTimes = new Map<string, number>();
const retryAfterMs = 24 * 3_600_000;
/** The task ends if it skips more tills, because something else is then probably wrong. */
const maxSkippedTills = 1_000;

/** Packs tills of days before the last `HOT_DAYS` days that did not change in the last 24 hours. */
export const packTillsTask: PeriodicTask<Pick<ReportingContext, "db" | "objects" | "config" | "log">> = {
  name: "pack tills",
  intervalSeconds: 10,
  async run(services) {
    const { db, config, log } = services;
    for (const [tillId, retryTime] of retryTimes) if (retryTime <= Date.now()) retryTimes.delete(tillId);
    // One statement for all partitions, because usually there is nothing to pack.
    const condition = { hotDays: config.HOT_DAYS, skippedTillIds: [...retryTimes.keys()] };
    if ((await listTillsToPack(db.sql, "reports", { ...condition, limit: 1 })).length === 0) return;
    let packed = 0;
    for (const partition of await listPartitionNames(db.sql, "reports")) {
      if (packed >= maxTillsPerRun || retryTimes.size >= maxSkippedTills) break;
      const tills = await listTillsToPack(db.sql, partition, {
        hotDays: config.HOT_DAYS,
        skippedTillIds: [...retryTimes.keys()],
        limit: maxTillsPerRun - packed,
      });
      for (const till of tills) {
        try {
          if (await packTill(services, till)) packed += 1;
        } catch (error) {
          // The location was removed in the meantime.
          if (isRemovedLocationError(error)) continue;
          // A very large till whose statements always take too long must not keep other tills from being packed.
          if (isTransient(error) && !isCanceledStatementError(error)) throw error;
          retryTimes.set(till.tillId, Date.now() + retryAfterMs);
          log.error({ err: error, tillId: till.tillId }, "a till could not be packed");
        }
      }
    }
    if (packed > 0) log.info({ tills: packed }, "packed tills");
  },
};
