import type { BusEventData } from "@pragma/contracts/events";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
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
  accountingFacts: string;
}

/** Returns the day and the creation time of a till's report; undefined if the till has no report. */
export async function findDayAndCreationTimeOfTillReport(
  tx: SqlTransaction,
  { locationId, tillId }: TillKey,
): Promise<{ day: string; createdAt: string } | undefined> {
  const [row] = await tx<{ day: string; createdAt: Date }[]>`
    select day::text as day, created_at from reports where location_id = ${locationId} and till_id = ${tillId}`;
  return row && { ...row, createdAt: row.createdAt.toISOString() };
}

export async function upsertReportRow(tx: SqlTransaction, row: ReportRow): Promise<void> {
  await tx`
    insert into reports ${tx(row)}
    on conflict (location_id, id) do update set
      day = excluded.day, started_at = excluded.started_at, updated_at = excluded.updated_at, etag = excluded.etag,
      finalized = excluded.finalized, v2 = excluded.v2, v0 = excluded.v0,
      list_item = excluded.list_item, accounting_facts = excluded.accounting_facts`;
}

export async function deleteReportOfTill(tx: SqlTransaction, { locationId, tillId }: TillKey): Promise<void> {
  await tx`delete from reports where location_id = ${locationId} and till_id = ${tillId}`;
}

/** Returns the data of the `report.finalized` event of a report; undefined when the report does not exist. */
export async function findReportFinalizedEventData(
  tx: SqlTransaction,
  { locationId, reportId }: { locationId: string; reportId: string },
): Promise<BusEventData<"report.finalized"> | undefined> {
  const [row] = await tx<{ finalized: string }[]>`
    select finalized from reports where location_id = ${locationId} and id = ${reportId}`;
  return row && JSON.parse(row.finalized);
}

/**
 * The stored figures that journal entries need. `accountingFacts` is null in reports that were stored before the
 * service computed accounting data.
 */
export interface StoredReportAndAccountingData {
  v2: string;
  accountingFacts: string | null;
}

/**
 * Returns the given tills of a location, sorted by closing time. Tills without a report follow at the end.
 */
export async function sortTillsByClosingTime(
  sql: SqlClient,
  { locationId, tillIds }: { locationId: string; tillIds: string[] },
): Promise<string[]> {
  const rows = await sql<{ tillId: string }[]>`
    select requested.till_id from unnest(${tillIds}::uuid[]) as requested (till_id)
    left join reports on reports.location_id = ${locationId} and reports.till_id = requested.till_id
    order by finalized::json ->> 'finalizedAt' collate "C", requested.till_id`;
  return rows.map(({ tillId }) => tillId);
}

export async function findStoredReportAndAccountingData(
  sql: SqlClient,
  { locationId, tillId }: TillKey,
): Promise<StoredReportAndAccountingData | undefined> {
  const [row] = await sql<StoredReportAndAccountingData[]>`
    select v2, accounting_facts from reports where location_id = ${locationId} and till_id = ${tillId}`;
  return row;
}

/** Returns tills of a location whose reports belong to days before a day (YYYY-MM-DD), oldest first. */
export async function listTillsWithReportBefore(
  sql: SqlClient,
  { locationId, beforeDay, limit }: { locationId: string; beforeDay: string; limit: number },
): Promise<TillKey[]> {
  return sql<TillKey[]>`
    select location_id, till_id from reports where location_id = ${locationId} and day < ${beforeDay}::text::date
    order by day, started_at, id limit ${limit}`;
}
