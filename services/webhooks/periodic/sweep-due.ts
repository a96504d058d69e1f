import type { PeriodicTask } from "@pragma/runtime/define-service";
import { leaseMs } from "../config.ts";
import { takeBackLapsed } from "../queries/claims.ts";
import type { Webhooks } from "../webhooks.ts";

const portion = 1_000;

/** What is due for longer than this was claimed by no instance. */
const overdueAfterMs = 2_000;

/**
 * Finds what no instance works on, and wakes them all: deliveries whose lease has lapsed because their instance died,
 * and those that became due without anything that says so, such as a retry whose instance has ended since.
 */
export const sweepDue = (everySeconds: number): PeriodicTask<Webhooks> => ({
  name: "sweep due deliveries",
  everySeconds,
  async run({ db: { sql }, log, clock, delivering, config }) {
    let lapsed = 0;
    for (let taken = portion; taken === portion; lapsed += taken) {
      taken = await takeBackLapsed(sql, { now: clock(), leaseMs: leaseMs(config), limit: portion });
    }
    if (lapsed > 0) log.warn({ deliveries: lapsed }, "attempts were interrupted; they are made again");
    const overdueSince = new Date(clock().getTime() - (lapsed > 0 ? 0 : overdueAfterMs));
    const overdue = await sql<{ id: string }[]>`
      select id from webhooks w
      where state = 'active' and exists (
        select from deliveries where webhook_id = w.id and state = 'pending' and due_at <= ${overdueSince}
      )`;
    delivering.wakeEveryInstance(overdue.map(({ id }) => id));
  },
});
