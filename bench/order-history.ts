import { randomUUID } from "node:crypto";
import { adjustDayCounts } from "@pragma/reporting/queries/day-counts";
import { createDatabasePool, type Database } from "@pragma/runtime/database/postgres";
import { createLogger } from "@pragma/runtime/observability/logger";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import postgres from "postgres";
import { orderJsonTemplates } from "./order-json-templates.ts";

/** Where a pretend past is put. */
export interface OrderHistoryDatabase {
  /** Tells SQL from SQL: rows are written in bulk, with no limit of time. */
  sql: postgres.Sql;
  /** As the product has it: what it counts, it counts itself. */
  database: Database;
  close(): Promise<void>;
}

/** A location's past: so many days, with so many orders each, in tills of a thousand at most. */
export interface OrderHistorySize {
  days: number;
  ordersPerDay: number;
}

/** The last day of every past. */
const lastHistoryDay = "2026-05-29";
const maxOrdersPerTill = 1_000;

export function openOrderHistoryDatabase(databaseUrl: string, namespace: string): OrderHistoryDatabase {
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

/** Gives a new location a past. @returns the location's id. */
export async function writeOrderHistory(
  { sql, database }: OrderHistoryDatabase,
  { days, ordersPerDay }: OrderHistorySize,
  tell: (detail: string) => void,
): Promise<string> {
  const locationId = randomUUID();
  const tillsPerDay = Math.ceil(ordersPerDay / maxOrdersPerTill);
  const ordersPerTill = ordersPerDay / tillsPerDay;
  const tills = days * tillsPerDay;
  for (let till = 0; till < tills; till += 1) {
    if (till % 10 === 0) tell(`${till * ordersPerTill} of ${days * ordersPerDay} orders`);
    const daysAgo = days - 1 - Math.floor(till / tillsPerDay);
    await writeHistoryTill(
      { sql, database },
      { locationId, daysAgo, part: till % tillsPerDay, tillsPerDay, ordersPerTill },
    );
  }
  return locationId;
}

interface HistoryTill {
  locationId: string;
  daysAgo: number;
  /** Which of the day's tills it is. */
  part: number;
  tillsPerDay: number;
  ordersPerTill: number;
}

async function writeHistoryTill(
  { sql, database }: Pick<OrderHistoryDatabase, "sql" | "database">,
  { locationId, daysAgo, part, tillsPerDay, ordersPerTill }: HistoryTill,
): Promise<void> {
  const [tillId, reportId] = [randomUUID(), randomUUID()];
  const opens = sql`(${lastHistoryDay}::date - ${daysAgo}::int)::timestamptz
    + interval '8 hours' + interval '12 hours' * ${part / tillsPerDay}::float8`;
  await sql`insert into tills (till_id, location_id, revision, pushed_at) values (${tillId}, ${locationId}, 1, now())`;
  const reports = await sql<{ day: string }[]>`
    insert into reports
      (id, till_id, location_id, day, started_at, created_at, updated_at, etag, finalized, v2, v0, list_item)
    values (${reportId}, ${tillId}, ${locationId}, ${lastHistoryDay}::date - ${daysAgo}::int, ${opens}, now(), now(),
       'seeded', '{}', '{}', '{}', '{}')
    returning day::text as day`;
  const orders = await sql<{ day: string }[]>`
    insert into orders
      (till_id, location_id, id, report_id, day, opened_at, created_at, updated_at, pushed_at, etag, v1, v2)
    select ${tillId}, ${locationId}, id, ${reportId}, ${lastHistoryDay}::date - ${daysAgo}::int,
      ${opens} + interval '12 hours' * (number::float8 / ${ordersPerTill * tillsPerDay}::int), now(), now(), now(), 'seeded',
      '{"id":"' || id || '",' || (${orderJsonTemplates}::text[])[1 + number % ${orderJsonTemplates.length}], '{}'
    from (
      select number, gen_random_uuid() as id from generate_series(0, ${ordersPerTill - 1}::int) as number
    ) as given
    returning day::text as day`;
  await database.transaction(async (tx) => {
    await adjustDayCounts(tx, { locationId, kind: "order", before: [], after: orders.map(({ day }) => day) });
    await adjustDayCounts(tx, { locationId, kind: "report", before: [], after: reports.map(({ day }) => day) });
  });
}

/** Brings the database to the state that it comes to by itself, in time. */
export async function vacuumOrderHistory({ sql }: OrderHistoryDatabase): Promise<void> {
  for (const table of ["orders", "reports", "tills", "day_counts"]) await sql`vacuum analyze ${sql(table)}`;
}

/** The day that is so many days before the last one. */
export function historyDayBefore(daysAgo: number): string {
  return new Date(Date.parse(lastHistoryDay) - daysAgo * 86_400_000).toISOString().slice(0, 10);
}
