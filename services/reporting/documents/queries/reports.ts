import type { BusEventData } from "@pragma/contracts/events";
import { listPartitionNames } from "@pragma/runtime/database/partitions";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { findOrderIdsOfTill } from "./orders.ts";
import type { PackedTillIndex } from "./packed-tills.ts";
import type { TillKey } from "./tills.ts";

export interface ReportRow {
  id: string;
  tillId: string;
  locationId: string;
  day: string;
  startedAt: string;
  createdAt: string;
  updatedAt: string;
  etag: string;
  finalized: string;
  v2: string;
  v0: string;
  listItem: string;
  accountingData: string;
  /** `TillFigures` as JSON, as `compressDayText` returns it. Null if a sum is too large. */
  tillFigures: Uint8Array | null;
  /** False if a sum is too large, so that the till has no metrics. */
  hasMetrics: boolean;
}

/**
 * Returns the day and the creation time of a till's report, and whether the location has live orders that are in no till.
 */
export async function findReportOfTill(
  tx: SqlTransaction,
  { locationId, tillId }: TillKey,
): Promise<{ report: { day: string; createdAt: string } | undefined; hasOrdersWithoutTill: boolean }> {
  const [{ day, createdAt, hasOrdersWithoutTill }] = await tx<
    [{ day: string | null; createdAt: Date | null; hasOrdersWithoutTill: boolean }]
  >`
    select day::text as day, created_at, exists (
      select from orders_without_till where location_id = ${locationId}
    ) as has_orders_without_till
    from (values (1)) as one left join reports on location_id = ${locationId} and till_id = ${tillId}`;
  const report = day === null || createdAt === null ? undefined : { day, createdAt: createdAt.toISOString() };
  return { report, hasOrdersWithoutTill };
}

export async function upsertReportRow(tx: SqlTransaction, row: ReportRow): Promise<void> {
  await tx`
    insert into reports ${tx(row)}
    on conflict (location_id, id) do update set
      day = excluded.day, started_at = excluded.started_at, updated_at = excluded.updated_at, etag = excluded.etag,
      finalized = excluded.finalized, v2 = excluded.v2, v0 = excluded.v0,
      list_item = excluded.list_item, accounting_data = excluded.accounting_data,
      till_figures = excluded.till_figures, has_metrics = excluded.has_metrics, packed_v0_bytes = null`;
}

/** Returns the data of the `report.finalized` event of a till's report; undefined when the report does not exist. */
export async function findReportFinalizedEventData(
  tx: SqlTransaction,
  { locationId, tillId }: TillKey,
): Promise<BusEventData<"report.finalized"> | undefined> {
  const [row] = await tx<{ finalized: string }[]>`
    select finalized from reports where location_id = ${locationId} and till_id = ${tillId}`;
  if (!row) return undefined;
  const data: BusEventData<"report.finalized"> = JSON.parse(row.finalized);
  // The report of a packed till is stored without the ids of its orders.
  return data.orderIds.length > 0 ? data : { ...data, orderIds: await findOrderIdsOfTill(tx, { locationId, tillId }) };
}

/** A row of `reports` as it is stored. `v2` and `v0` are null if the till is packed. */
type StoredReport = Pick<ReportRow, "etag" | "finalized"> & Record<"v2" | "v0" | "accountingData", string | null>;

export async function findStoredReport(
  tx: SqlTransaction,
  { locationId, tillId }: TillKey,
): Promise<StoredReport | undefined> {
  const [row] = await tx<StoredReport[]>`
    select etag, v2, v0, accounting_data, finalized from reports
    where location_id = ${locationId} and till_id = ${tillId}`;
  return row;
}

/** Returns tills of a partition of `reports` that are to be packed, earliest day first. */
export async function listTillsToPack(
  sql: SqlClient,
  partition: string,
  { hotDays, skippedTillIds, limit }: { hotDays: number; skippedTillIds: string[]; limit: number },
): Promise<TillKey[]> {
  return sql<TillKey[]>`
    select location_id, till_id from ${sql(partition)}
    where ${isToPack(sql, hotDays)} and till_id <> all(${skippedTillIds}::uuid[])
    order by day limit ${limit}`;
}

const isToPack = (sql: SqlClient, hotDays: number) => sql`
  v2 is not null and day < current_date - ${hotDays}::int and updated_at < now() - interval '24 hours'`;

/** Returns how many tills of all locations wait to be packed, counted up to `limit`. Reads one partition at a time. */
export async function countTillsToPack(
  sql: SqlClient,
  { hotDays, limit }: { hotDays: number; limit: number },
): Promise<number> {
  let count = 0;
  for (const partition of await listPartitionNames(sql, "reports")) {
    if (count >= limit) break;
    const [row] = await sql<[{ count: number }]>`
      select count(*) from (
        select from ${sql(partition)} where ${isToPack(sql, hotDays)} limit ${limit - count}
      ) as waiting`;
    count += row.count;
  }
  return count;
}

/** The stored figures that journal entries need. `accountingData` is `TillAccountingData` as JSON. */
export type StoredTillData = Pick<ReportRow, "v2" | "accountingData">;

/** What names the report of a till to people. Both are null if the till has no report. */
export interface TillReportName {
  day: string | null;
  reportNumber: number | null;
}

/** Returns the given tills of a location, sorted by closing time. Tills without a report follow at the end. */
export async function listTillsByClosingTime(
  sql: SqlClient,
  { locationId, tillIds }: { locationId: string; tillIds: string[] },
): Promise<(TillReportName & { tillId: string })[]> {
  return sql<(TillReportName & { tillId: string })[]>`
    select requested.till_id, day::text as day, (finalized::json ->> 'reportNumber')::float8 as report_number
    from unnest(${tillIds}::uuid[]) as requested (till_id)
    left join reports on reports.location_id = ${locationId} and reports.till_id = requested.till_id
    order by finalized::json ->> 'finalizedAt' collate "C", requested.till_id`;
}

/** Returns where the till is packed instead if it is packed. */
export async function findStoredTillData(
  sql: SqlClient,
  { locationId, tillId }: TillKey,
): Promise<StoredTillData | { packed: PackedTillIndex } | undefined> {
  type Row = PackedTillIndex & { v2: string | null; accountingData: string };
  const [row] = await sql<Row[]>`
    select v2, accounting_data, object_key, block_ends, block_first_positions, block_v1_ends
    from reports left join packed_tills as till
      on v2 is null and till.location_id = reports.location_id and till.till_id = reports.till_id
    where reports.location_id = ${locationId} and reports.till_id = ${tillId}`;
  if (!row) return undefined;
  const { v2, accountingData } = row;
  return v2 === null ? { packed: row } : { v2, accountingData };
}

/** Returns tills of a location whose reports belong to days before a day (YYYY-MM-DD), oldest first. */
export async function listTillsWithReportBefore(
  sql: SqlClient,
  range: { locationId: string; beforeDay: string; skippedTillIds: string[]; limit: number },
): Promise<TillKey[]> {
  return sql<TillKey[]>`
    select location_id, till_id from reports
    where location_id = ${range.locationId} and day < ${range.beforeDay}::text::date
      and till_id <> all(${range.skippedTillIds}::uuid[])
    order by day, started_at, id limit ${range.limit}`;
}
