import { setTimeout as sleep } from "node:timers/promises";
import { serviceNames } from "@pragma/contracts/service-names";
import { mergeMetricMonths } from "@pragma/reporting/metrics/periodic/merge-metric-months";
import { createLogger } from "@pragma/runtime/observability/logger";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import postgres from "postgres";
import type { BenchEnvironment } from "../bench-environment.ts";
import { openPackedOrderHistoryStores } from "../packed-order-history.ts";
import { namespace } from "./measure-stored-bytes.ts";

/**
 * Moves each till to a day of its own, years ago, because all of them have the day of the same sample. The first till,
 * which is not packed, gets the latest day, as tills that are not packed usually have.
 */
export async function moveTillsToOldDays({ urls }: BenchEnvironment): Promise<void> {
  const sql = postgres(urls.DATABASE_URL, { max: 1, onnotice: () => {} });
  const schema = sql(buildServiceSchemaName(namespace, "reporting"));
  try {
    await sql`
      update ${schema}.reports set day = date '2020-01-01' + number::int
      from (select till_id, row_number() over (order by created_at desc) as number from ${schema}.reports) as numbered
      where numbered.till_id = reports.till_id`;
    await sql`
      update ${schema}.orders set day = reports.day from ${schema}.reports where reports.till_id = orders.till_id`;
    for (const table of ["metric_totals", "metric_cells"])
      await sql`
        update ${schema}.${sql(table)} as figures set day = reports.day from ${schema}.reports
        where reports.till_id = figures.till_id`;
    await sql`delete from ${schema}.day_counts`;
    await sql`
      insert into ${schema}.day_counts
      select location_id, 'order', day, count(*) from ${schema}.orders group by 1, 3
      union all select location_id, 'report', day, count(*) from ${schema}.reports group by 1, 3`;
  } finally {
    await sql.end();
  }
}

/**
 * Lets the reports appear older than they are, except the first, and waits until the product has packed their tills.
 */
export async function packAllTills(
  { urls }: BenchEnvironment,
  reportProgress: (detail: string) => void,
): Promise<void> {
  const sql = postgres(urls.DATABASE_URL, { max: 1, onnotice: () => {} });
  const schema = sql(buildServiceSchemaName(namespace, "reporting"));
  try {
    await sql`
      update ${schema}.reports set updated_at = updated_at - interval '2 days'
      where created_at > (select min(created_at) from ${schema}.reports)`;
    for (;;) {
      const [row] = await sql<[{ left: number }]>`
        select count(*)::int as left from ${schema}.reports where v2 is not null`;
      if (row.left <= 1) return;
      reportProgress(`${row.left} tills to pack`);
      await sleep(1_000);
    }
  } finally {
    await sql.end();
  }
}

/**
 * Deletes the rows about tills that periodic tasks delete long before `HOT_DAYS`: the tills that order-live remembers for
 * `LIVE_ORDERS_RETENTION_DAYS`, and the events that a service remembers having handled.
 */
export async function deleteShortLivedRows({ urls }: BenchEnvironment): Promise<void> {
  const sql = postgres(urls.DATABASE_URL, { max: 1, onnotice: () => {} });
  try {
    await sql`delete from ${sql(buildServiceSchemaName(namespace, "order-live"))}.final_tills`;
    for (const service of serviceNames) await sql`delete from ${sql(buildServiceSchemaName(namespace, service))}.inbox`;
  } finally {
    await sql.end();
  }
}

/** Merges the figures of past months, as a periodic task does. */
export async function mergeMonths(environment: BenchEnvironment): Promise<void> {
  const stores = openPackedOrderHistoryStores(environment, namespace);
  try {
    await mergeMetricMonths({ db: stores.db, log: createLogger({ name: "bench", level: "silent" }) });
  } finally {
    await stores.close();
  }
}
