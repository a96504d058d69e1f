import type { PeriodicTask } from "@pragma/runtime/define-service";
import { unclaimedExports } from "../queries/accounting-exports.ts";
import type { Reporting } from "../reporting.ts";

/** An export that is pending for longer than this was lost on its way through the queue, in seconds. */
const pendingSeconds = 2;

/** Announces exports again that nobody is making: those that Redis has lost, and those whose maker has died. */
export const sweepExports: PeriodicTask<Pick<Reporting, "db" | "announceExports">> = {
  name: "sweep accounting exports",
  everySeconds: 3,
  async run({ db, announceExports }, context) {
    await announceExports(await unclaimedExports(db.sql, { pendingSeconds }), context?.traceparent);
  },
};
