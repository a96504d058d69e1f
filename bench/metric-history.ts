import { randomUUID } from "node:crypto";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { TillV2 } from "@pragma/contracts/till-v2";
import { computeReportAndOrders } from "@pragma/reporting/calculation/compute-report";
import { computeTillMetrics, type TillMetrics } from "@pragma/reporting/metrics/till-metrics";
import { mergeMetricMonths } from "@pragma/reporting/periodic/merge-metric-months";
import { replaceTillMetrics } from "@pragma/reporting/queries/metrics";
import type { Database } from "@pragma/runtime/database/postgres";
import { createLogger } from "@pragma/runtime/observability/logger";
import { generateTill } from "@pragma/simulator/generate-till";
import { type BenchOrderHistoryDatabase, getBenchOrderHistoryDate } from "./order-history.ts";

/** The size of a history: one till a day at each location. */
export interface MetricHistorySize {
  locations: number;
  days: number;
  ordersPerDay: number;
}

/** Tills that the days of a history repeat. */
const templateCount = 14;
const timeZone = "Europe/Paris";

interface TillTemplate {
  metrics: TillMetrics;
  /** The orders as JSON. */
  orders: string[];
}

/** The location of which the history also contains the texts of orders, and the ids of all locations. */
export interface MetricHistory {
  locationId: string;
  locationIds: string[];
}

/**
 * Writes the figures of new locations as the product stores them, with the merged figures of months, and the texts of the
 * orders of the first location. All locations have the same figures.
 */
export async function seedMetricHistory(
  { sql, database: db }: Pick<BenchOrderHistoryDatabase, "sql" | "database">,
  { locations, days, ordersPerDay }: MetricHistorySize,
  reportProgress: (detail: string) => void,
): Promise<MetricHistory> {
  const locationIds = Array.from({ length: locations }, () => randomUUID());
  const [locationId = ""] = locationIds;
  const templates = Array.from({ length: templateCount }, (_, index) => buildTemplate(index, ordersPerDay));
  for (let daysAgo = days - 1; daysAgo >= 0; daysAgo -= 1) {
    const template = templates[daysAgo % templateCount];
    if (template) await writeDay(db, { locationId, day: getBenchOrderHistoryDate(daysAgo) }, template);
    if (daysAgo % 50 === 0) reportProgress(`${days - daysAgo} of ${days} days`);
  }
  reportProgress("merging months");
  await mergeMetricMonths({ db, log: createLogger({ name: "bench", level: "silent" }) });
  for (const [index, copyId] of locationIds.entries()) {
    if (index === 0) continue;
    if (index % 10 === 0) reportProgress(`${index} of ${locations} locations`);
    for (const table of ["metric_totals", "metric_cells", "metric_months"])
      await copyLocation(sql, table, { from: locationId, to: copyId });
  }
  for (const table of ["reports", "orders", "metric_totals", "metric_cells", "metric_months"])
    await sql`vacuum analyze ${sql(table)}`;
  return { locationId, locationIds };
}

function buildTemplate(index: number, orders: number): TillTemplate {
  const day = getBenchOrderHistoryDate(index);
  const till = TillV2.parse(generateTill({ seed: "metrics", orders, day, timeZone, tillId: randomUUID() }));
  const computed = computeReportAndOrders(till, { locationId: randomUUID() });
  const metrics = computed && computeTillMetrics(till.orderList, computed.reportV2, { timeZone });
  if (!metrics) throw new Error("A generated till has no figures.");
  return { metrics, orders: till.orderList.map((order) => JSON.stringify(order)) };
}

async function writeDay(
  db: Database,
  { locationId, day }: { locationId: string; day: string },
  { metrics, orders }: TillTemplate,
): Promise<void> {
  const tillId = randomUUID();
  const reportId = computeTillReportId(tillId);
  // Reports that changed in the last day are not merged.
  const storedAt = "2026-06-01T00:00:00Z";
  await db.transaction(async (tx) => {
    await tx`insert into tills (till_id, location_id, revision, pushed_at) values (${tillId}, ${locationId}, 1, now())`;
    await tx`
      insert into reports
        (id, till_id, location_id, day, started_at, created_at, updated_at, etag, metrics_etag, finalized, v2, v0, list_item)
      values (${reportId}, ${tillId}, ${locationId}, ${day}::text::date, ${`${day}T08:00:00Z`}, ${storedAt}, ${storedAt},
        'seeded', 'seeded', '{}', '{}', '{}', '{}')`;
    await tx`
      insert into orders
        (till_id, location_id, id, report_id, day, opened_at, created_at, updated_at, pushed_at, etag, v1, v2)
      select ${tillId}, ${locationId}, gen_random_uuid(), ${reportId}, ${day}::text::date, ${`${day}T12:00:00Z`}, now(),
        now(), now(), 'seeded', '{}', text
      from unnest(${orders}::text[]) as text`;
    await replaceTillMetrics(tx, { locationId, tillId, previousDay: undefined, day, metrics });
  });
}

async function copyLocation(
  sql: BenchOrderHistoryDatabase["sql"],
  table: string,
  { from, to }: { from: string; to: string },
): Promise<void> {
  const columns = await sql<{ name: string }[]>`
    select attname as name from pg_attribute where attrelid = ${table}::regclass and attnum > 0 and not attisdropped`;
  const names = columns.map(({ name }) => name);
  const values = names.map((name) => (name === "location_id" ? "$1::uuid" : name));
  await sql.unsafe(
    `insert into ${table} (${names.join(", ")}) select ${values.join(", ")} from ${table} where location_id = $2`,
    [to, from],
  );
}
