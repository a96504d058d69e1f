import type { PeriodicTask } from "@pragma/runtime/define-service";
import { takeBackLapsed, testsOverdue, webhooksOverdue } from "../queries/claims.ts";
import { unfinishedRecoveries } from "../queries/recoveries.ts";
import type { Webhooks } from "../webhooks.ts";

type Sweeping = Pick<Webhooks, "db" | "log" | "clock" | "announce" | "claimedFor">;

const portion = 1_000;

/** What is due for longer than this and still not taken was lost on its way through the queue, in milliseconds. */
const overdueAfter = 2_000;

/**
 * Finds what nobody is doing, and announces it again: deliveries whose worker has died, those that are due although no
 * job says so (because Redis has lost it, or their time is far from when they were planned), and unfinished recoveries.
 * One job for each webhook is enough: whoever gets it fetches all that is due.
 */
export const sweepDue = (everySeconds: number): PeriodicTask<Sweeping> => ({
  name: "sweep due deliveries",
  everySeconds,
  async run({ db: { sql }, log, clock, announce, claimedFor }, context) {
    const traceparent = context?.traceparent;
    let lapsed = 0;
    for (let taken = portion; taken === portion; lapsed += taken) {
      taken = await takeBackLapsed(sql, { now: clock(), claimedFor, limit: portion });
    }
    if (lapsed > 0) log.warn({ deliveries: lapsed }, "attempts were interrupted; they are made again");
    const overdueSince = new Date(clock().getTime() - (lapsed > 0 ? 0 : overdueAfter));
    const webhookIds = await webhooksOverdue(sql, overdueSince);
    await announce(webhookIds.map((webhookId) => ({ kind: "wake", webhookId, traceparent })));
    const tests = await testsOverdue(sql, overdueSince, portion);
    await announce(tests.map((name) => ({ kind: "test", ...name, traceparent })));
    await announce(
      (await unfinishedRecoveries(sql)).map((recoveryId) => ({ kind: "recover", recoveryId, traceparent })),
    );
  },
});
