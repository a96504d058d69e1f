import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { adjustDayCounts } from "@pragma/reporting/documents/queries/day-counts";
import { createDatabasePool, type Database } from "@pragma/runtime/database/postgres";
import { createLogger } from "@pragma/runtime/observability/logger";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import postgres from "postgres";
import { getBenchSampleTillPath } from "./sample-tills.ts";

/** The reporting database of a product, to which generated order histories are written. */
export interface BenchOrderHistoryDatabase {
  /** Connections for bulk inserts. They have no statement timeout, because such inserts take long. */
  sql: postgres.Sql;
  /** The database pool that the product's own code uses to update the day counts. */
  database: Database;
  close(): Promise<void>;
}

/** The size of a location's history. */
export interface BenchOrderHistorySize {
  days: number;
  ordersPerDay: number;
}

/** The last business day of every history. */
const lastHistoryDay = "2026-05-29";
const maxOrdersPerTill = 1_000;
const orderTemplateCount = 10;

/**
 * Ten real orders from the smallest to the largest, each as the JSON of a V1 order without its opening brace and id. A
 * history repeats these ten orders, so that all pages of 10 or 100 orders have the same size.
 */
const orderJsonTemplates: string[] = (() => {
  const orders = JSON.parse(readFileSync(getBenchSampleTillPath("shift-v2.orders-v1"), "utf8")) as { id: string }[];
  const texts = orders.map(({ id: _, ...rest }) => JSON.stringify(rest).slice(1)).sort((a, b) => a.length - b.length);
  return Array.from(
    { length: orderTemplateCount },
    (_, index) => texts[Math.floor((index * texts.length) / orderTemplateCount)] ?? "",
  );
})();

export function openBenchOrderHistoryDatabase(databaseUrl: string, namespace: string): BenchOrderHistoryDatabase {
  const schema = buildServiceSchemaName(namespace, "reporting");
  const sql = postgres(databaseUrl, {
    max: 2,
    connection: { search_path: schema, synchronous_commit: "off" },
    onnotice: () => {},
  });
  const log = createLogger({ name: "bench", level: "silent" });
  const database = createDatabasePool({ DATABASE_URL: databaseUrl, DATABASE_POOL: 2 }, { schema, log });
  return {
    sql,
    database,
    async close() {
      await sql.end();
      await database.close();
    },
  };
}

/** Writes the history of a new location. @returns the location's id. */
export async function seedBenchOrderHistory(
  { sql, database }: BenchOrderHistoryDatabase,
  { days, ordersPerDay }: BenchOrderHistorySize,
  reportProgress: (detail: string) => void,
): Promise<string> {
  const locationId = randomUUID();
  const tillsPerDay = Math.ceil(ordersPerDay / maxOrdersPerTill);
  const ordersPerTill = ordersPerDay / tillsPerDay;
  const tills = days * tillsPerDay;
  for (let till = 0; till < tills; till += 1) {
    if (till % 10 === 0) reportProgress(`${till * ordersPerTill} of ${days * ordersPerDay} orders`);
    const daysAgo = days - 1 - Math.floor(till / tillsPerDay);
    await writeHistoryTill(
      { sql, database },
      { locationId, daysAgo, index: till % tillsPerDay, tillsPerDay, ordersPerTill },
    );
  }
  return locationId;
}

interface HistoryTill {
  locationId: string;
  daysAgo: number;
  /** The index of the till among the tills of its day. */
  index: number;
  tillsPerDay: number;
  ordersPerTill: number;
}

async function writeHistoryTill(
  { sql, database }: Pick<BenchOrderHistoryDatabase, "sql" | "database">,
  { locationId, daysAgo, index, tillsPerDay, ordersPerTill }: HistoryTill,
): Promise<void> {
  const [tillId, reportId] = [randomUUID(), randomUUID()];
  const opens = sql`(${lastHistoryDay}::date - ${daysAgo}::int)::timestamptz
    + interval '8 hours' + interval '12 hours' * ${index / tillsPerDay}::float8`;
  await sql`insert into tills (till_id, location_id, revision, hash, pushed_at) values (${tillId}, ${locationId}, 1, '', now())`;
  const reports = await sql<{ day: string }[]>`
    insert into reports
      (id, till_id, location_id, day, started_at, created_at, updated_at, etag, finalized, v2, v0, list_item,
       has_metrics)
    values (${reportId}, ${tillId}, ${locationId}, ${lastHistoryDay}::date - ${daysAgo}::int, ${opens}, now(), now(),
       'seeded', '{}', '{}', '{}', '{}', false)
    returning day::text as day`;
  const orders = await sql<{ day: string }[]>`
    insert into orders
      (till_id, location_id, id, report_id, day, opened_at, created_at, updated_at, pushed_at, etag, v1, v2_deflated)
    select ${tillId}, ${locationId}, id, ${reportId}, ${lastHistoryDay}::date - ${daysAgo}::int,
      ${opens} + interval '12 hours' * (number::float8 / ${ordersPerTill * tillsPerDay}::int), now(), now(), now(), 'seeded',
      '{"id":"' || id || '",' || (${orderJsonTemplates}::text[])[1 + number % ${orderJsonTemplates.length}], ''
    from (
      select number, gen_random_uuid() as id from generate_series(0, ${ordersPerTill - 1}::int) as number
    ) as generated
    returning day::text as day`;
  await database.transaction(async (tx) => {
    await adjustDayCounts(tx, {
      locationId,
      report: { before: [], after: reports.map(({ day }) => day) },
      order: { before: [], after: orders.map(({ day }) => day) },
    });
  });
}

/** Vacuums and analyzes the tables, because autovacuum may not have done so when the measurement starts. */
export async function vacuumBenchOrderHistory({ sql }: BenchOrderHistoryDatabase): Promise<void> {
  for (const table of ["orders", "reports", "tills", "day_counts"]) await sql`vacuum analyze ${sql(table)}`;
}

/** Returns the date of the day that is `daysAgo` days before the last day of the history. */
export function getBenchOrderHistoryDate(daysAgo: number): string {
  return new Date(Date.parse(lastHistoryDay) - daysAgo * 86_400_000).toISOString().slice(0, 10);
}
