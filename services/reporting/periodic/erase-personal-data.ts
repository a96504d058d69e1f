import type { PeriodicTask } from "@pragma/runtime/define-service";
import { eraseTillsBefore } from "../erase-orders.ts";
import type { Reporting } from "../reporting.ts";

const day = 24 * 3_600_000;

/** Has the personal data erased of tills that were pushed longer ago than it may be kept. */
export const erasePersonalData: PeriodicTask<Pick<Reporting, "db" | "log" | "personalDataKeptDays">> = {
  name: "erase personal data",
  everySeconds: 3_600,
  async run({ db, log, personalDataKeptDays }, context) {
    if (personalDataKeptDays === undefined) return;
    const before = new Date(Date.now() - personalDataKeptDays * day).toISOString();
    const tills = await eraseTillsBefore(db, { before, traceparent: context?.traceparent });
    if (tills > 0) log.info({ tills }, "personal data of old tills is erased");
  },
};
