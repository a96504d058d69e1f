import type { Metrics } from "@pragma/runtime/metrics";
import type { Database } from "@pragma/runtime/postgres";
import type { Clock } from "../clock.ts";
import { countUnsettled, countWebhooks } from "../queries/counts.ts";

/** Tells how many deliveries are still to be made, by how far they are, and how many webhooks there are, by state. */
export function observeDeliveries(metrics: Metrics, { db, clock }: { db: Database; clock: Clock }): void {
  metrics.observeAll(
    "webhook_deliveries",
    "Deliveries that are not settled, 100000 of each state at most",
    async () => {
      const { due, waiting, sending } = await countUnsettled(db.sql, clock());
      return Object.entries({ due, waiting, sending }).map(([state, value]) => ({ value, labels: { state } }));
    },
  );
  metrics.observeAll("webhooks", "Webhooks, by state", async () =>
    (await countWebhooks(db.sql)).map(({ state, count }) => ({ value: count, labels: { state } })),
  );
}
