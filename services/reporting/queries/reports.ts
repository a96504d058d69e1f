import type { BusEventData } from "@pragma/contracts/events";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";

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
  tillId: string,
): Promise<{ day: string; createdAt: string } | undefined> {
  const [row] = await tx<{ day: string; createdAt: Date }[]>`
    select day::text as day, created_at from reports where till_id = ${tillId}`;
  return row && { ...row, createdAt: row.createdAt.toISOString() };
}

export async function upsertReportRow(tx: SqlTransaction, row: ReportRow): Promise<void> {
  await tx`
    insert into reports ${tx(row)}
    on conflict (id) do update set
      day = excluded.day, started_at = excluded.started_at, updated_at = excluded.updated_at, etag = excluded.etag,
      finalized = excluded.finalized, v2 = excluded.v2, v0 = excluded.v0,
      list_item = excluded.list_item, accounting_facts = excluded.accounting_facts`;
}

export async function deleteReportOfTill(tx: SqlTransaction, tillId: string): Promise<void> {
  await tx`delete from reports where till_id = ${tillId}`;
}

/** Returns the data of the `report.finalized` event of a report; undefined when the report does not exist. */
export async function findReportFinalizedEventData(
  tx: SqlTransaction,
  id: string,
): Promise<BusEventData<"report.finalized"> | undefined> {
  const [row] = await tx<{ finalized: string }[]>`select finalized from reports where id = ${id}`;
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

export async function findStoredReportAndAccountingData(
  sql: SqlClient,
  { tillId, locationId }: { tillId: string; locationId: string },
): Promise<StoredReportAndAccountingData | undefined> {
  const [row] = await sql<StoredReportAndAccountingData[]>`
    select v2, accounting_facts from reports where till_id = ${tillId} and location_id = ${locationId}`;
  return row;
}
