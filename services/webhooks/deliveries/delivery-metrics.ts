import type { PrometheusMetrics } from "@pragma/runtime/observability/metrics";
import type { WebhooksDependencies } from "../dependencies.ts";

/** Maximum number of deliveries that are counted per state, to bound the cost of the query. */
const maxCountedPerState = 100_000;

/**
 * Registers metrics that count unsettled deliveries (due, waiting or sending) and webhooks by state. The due and
 * waiting deliveries of paused and disabled webhooks are not counted, because they are only sent after a resumption.
 */
export function registerDeliveryMetrics(metrics: PrometheusMetrics, { db, clock }: WebhooksDependencies): void {
  const { sql } = db;
  metrics.observeGauges(
    "webhook_deliveries",
    "Unsettled deliveries by state, counted up to 100000 per state",
    async () => {
      const now = clock();
      const pending = sql`
        select 1 from webhooks w join webhook_deliveries d on d.location_id = w.location_id and d.webhook_id = w.id
        where w.state = 'active' and d.state = 'pending'`;
      const [counts] = await sql<[{ due: number; waiting: number; sending: number }]>`
        select
          (select count(*) from (${pending} and d.due_at <= ${now} limit ${maxCountedPerState}) due) as due,
          (select count(*) from (${pending} and d.due_at > ${now} limit ${maxCountedPerState}) waiting) as waiting,
          (select count(*) from (select 1 from webhook_deliveries where state = 'sending' limit ${maxCountedPerState}) s) as sending`;
      return Object.entries(counts).map(([state, value]) => ({ value, labels: { state } }));
    },
  );
  metrics.observeGauges("webhooks", "Webhooks by state", async () => {
    const counts = await sql<{ state: string; count: number }[]>`
      select state, count(*) from webhooks where state <> 'deleted' group by state`;
    return counts.map(({ state, count }) => ({ value: count, labels: { state } }));
  });
}
