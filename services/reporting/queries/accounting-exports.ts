import type { AccountingExport, AccountingProvider } from "@pragma/contracts/accounting-export";
import {
  type Database,
  lockUntilCommit,
  type SqlClient,
  type SqlTransaction,
  toRecordsetParameter,
} from "@pragma/runtime/database/postgres";

export interface AccountingExportRow {
  id: string;
  locationId: string | null;
  state: AccountingExport["state"];
  attempt: number;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
}

export interface ExportItemRow {
  position: number;
  tillId: string;
  fileNumber: number;
  state: "pending" | "done" | "failed";
  failure: string | null;
}

/** A file without its content. */
export interface ExportFileRow {
  number: number;
  locationId: string;
  configId: string;
  provider: AccountingProvider;
  name: string | null;
  etag: string | null;
  entries: number | null;
  /** In bytes; null when there is no content. */
  size: number | null;
}

interface NewAccountingExport extends Pick<AccountingExportRow, "id" | "locationId"> {
  keyId: string;
  consumer: string;
  traceparent: string;
  files: (Pick<ExportFileRow, "number" | "locationId" | "configId" | "provider"> & { config: string })[];
  items: Pick<ExportItemRow, "position" | "tillId" | "fileNumber">[];
}

export async function insertAccountingExport(
  tx: SqlTransaction,
  { files, items, ...row }: NewAccountingExport,
): Promise<void> {
  await tx`insert into accounting_exports ${tx({ ...row, state: "pending" })}`;
  await tx`insert into accounting_files ${tx(files.map((file) => ({ exportId: row.id, ...file })))}`;
  await tx`insert into accounting_items ${tx(items.map((item) => ({ exportId: row.id, ...item })))}`;
}

/** An export with its items in their order, and its files; `locationId` null finds those of any location. */
export async function findAccountingExport(
  sql: SqlClient,
  { id, locationId }: { id: string; locationId: string | null },
): Promise<{ row: AccountingExportRow; items: ExportItemRow[]; files: ExportFileRow[] } | undefined> {
  return sql.begin("isolation level repeatable read read only", async (tx) => {
    const isVisible = locationId === null ? tx`true` : tx`location_id = ${locationId}`;
    const [row] = await tx<AccountingExportRow[]>`select * from accounting_exports where id = ${id} and ${isVisible}`;
    if (!row) return undefined;
    const [items, files] = await Promise.all([
      tx<ExportItemRow[]>`select * from accounting_items where export_id = ${id} order by position`,
      tx<ExportFileRow[]>`
        select number, location_id, config_id, provider, name, etag, entries, octet_length(content) as size
        from accounting_files where export_id = ${id} order by number`,
    ]);
    return { row, items, files };
  });
}

interface StoredExportFile {
  name: string;
  etag: string;
  provider: AccountingProvider;
  /** In bytes. */
  size: number;
}

/**
 * A file of an export without its content, and without `file` as long as it is not there; undefined when there is no such export. `locationId`
 * null finds those of any location.
 */
export async function findExportFile(
  sql: SqlClient,
  { exportId, number, locationId }: { exportId: string; number: number; locationId: string | null },
): Promise<{ file?: StoredExportFile } | undefined> {
  const [row] = await sql<(StoredExportFile | { size: null })[]>`
    select file.name, file.etag, file.provider, octet_length(file.content) as size
    from accounting_exports left join accounting_files file on file.export_id = id and file.number = ${number}
    where id = ${exportId} and ${locationId === null ? sql`true` : sql`accounting_exports.location_id = ${locationId}`}`;
  return row && (row.size === null ? {} : { file: row });
}

/** Bytes of a file that a query carries: they pass through memory as hexadecimal text, which takes the time of its size. */
const chunkBytes = 1024 * 1024;

/** The bytes of a file from the one at `offset` on, up to so many as a query carries. */
export async function readExportFileChunk(
  sql: SqlClient,
  { exportId, number, offset }: { exportId: string; number: number; offset: number },
): Promise<Uint8Array> {
  const [row] = await sql<{ piece: Uint8Array }[]>`
    select substring(content from ${offset + 1} for ${chunkBytes}) as piece
    from accounting_files where export_id = ${exportId} and number = ${number}`;
  if (!row || row.piece.byteLength === 0) throw new Error("The file has become shorter, or was removed.");
  return row.piece;
}

/** A claim to an export: who holds the latest makes it. */
export interface ExportClaim {
  id: string;
  attempt: number;
  /** Of the request for it (W3C). */
  traceparent: string | null;
}

/** Exports that nobody is making: pending, unless they wait to be tried again, or with a claim that has run out. */
const isClaimable = (sql: SqlClient) => sql`
  state in ('pending', 'running') and (claimed_until is null or claimed_until < now())`;

/**
 * Claims exports for so many seconds, up to so many: locations take turns, those under way counted, and each has its
 * oldest made first. A claim of which a process died counts as three attempts.
 */
export async function claimAccountingExports(
  sql: SqlClient,
  { limit, seconds }: { limit: number; seconds: number },
): Promise<ExportClaim[]> {
  return sql<ExportClaim[]>`
    with due as (
      select export.id from accounting_exports export join (
        select id, row_number() over (partition by location_id order by state desc, created_at) as turn
        from accounting_exports where state in ('pending', 'running')
      ) place using (id)
      where ${isClaimable(sql)}
      order by turn, created_at limit ${limit} for update of export skip locked
    )
    update accounting_exports export set
      state = 'running', attempt = attempt + case state when 'running' then 3 else 1 end,
      claimed_until = now() + make_interval(secs => ${seconds}),
      started_at = coalesce(started_at, now())
    from due where export.id = due.id
    returning export.id, attempt, traceparent`;
}

/** Prolongs a claim; false when it is no longer the latest. */
export async function renewExportClaim(
  sql: SqlClient,
  claim: ExportClaim,
  { seconds }: { seconds: number },
): Promise<boolean> {
  const renewed = await sql`
    update accounting_exports set claimed_until = now() + make_interval(secs => ${seconds}) where ${isClaimHeld(sql, claim)}`;
  return renewed.count === 1;
}

/** Lets go of a claim, so that the export can be made by somebody else after so many seconds. */
export async function releaseExportClaim(sql: SqlClient, claim: ExportClaim, { afterSeconds = 0 } = {}): Promise<void> {
  await sql`
    update accounting_exports set state = 'pending', claimed_until = now() + make_interval(secs => ${afterSeconds})
    where ${isClaimHeld(sql, claim)}`;
}

/** How many exports of a location have not come to their end, or of a key where they are of several locations. */
export async function countUnfinishedExportsOfOwner(
  tx: SqlTransaction,
  db: Database,
  owner: Pick<NewAccountingExport, "locationId" | "keyId">,
) {
  const id = owner.locationId ?? owner.keyId;
  await lockUntilCommit(tx, db, `exports of ${id}`);
  const [row] = await tx<[{ count: number }]>`
    select count(*) from accounting_exports
    where state in ('pending', 'running') and coalesce(location_id, key_id) = ${id}`;
  return row.count;
}

/** How many exports have not come to their end. */
export async function countUnfinishedExports(sql: SqlClient): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*) from accounting_exports where state in ('pending', 'running')`;
  return row.count;
}

/** The exports that have not come to their end, oldest first, as operators see them. */
export async function listUnfinishedExports(sql: SqlClient, limit: number) {
  return sql`
    select id as export_id, location_id, state, created_at, attempt as attempts, claimed_until
    from accounting_exports where state in ('pending', 'running') order by created_at limit ${limit}`;
}

/** What came of a till. */
export type ExportItemResult = Pick<ExportItemRow, "position" | "state" | "failure">;

/** What came of an export. */
export interface FinishedExport {
  state: "done" | "failed";
  items: ExportItemResult[];
  files: { number: number; name: string; etag: string; entries: number; content: Uint8Array }[];
}

/** Writes down what came of an export; false, and nothing is written, when the claim is no longer the latest. */
export async function finishAccountingExport(
  tx: SqlTransaction,
  claim: ExportClaim,
  { state, items, files }: FinishedExport,
) {
  const finished = await tx`
    update accounting_exports set state = ${state}, finished_at = now(), claimed_until = null
    where ${isClaimHeld(tx, claim)}`;
  if (finished.count === 0) return false;
  for (const { number, content, ...file } of files) {
    const isFile = tx`export_id = ${claim.id} and number = ${number}`;
    await tx`update accounting_files set ${tx({ ...file, content: Buffer.alloc(0) })} where ${isFile}`;
    for (let offset = 0; offset < content.byteLength; offset += chunkBytes) {
      const piece = content.subarray(offset, offset + chunkBytes);
      await tx`update accounting_files set content = content || ${piece}::bytea where ${isFile}`;
    }
  }
  await tx`
    update accounting_items as item set state = found.state, failure = found.failure
    from jsonb_to_recordset(${toRecordsetParameter(tx, items)}) as found (position int, state text, failure text)
    where item.export_id = ${claim.id} and item.position = found.position`;
  return true;
}

/** A file to make: how, and of which tills. */
export interface PlannedExportFile extends Pick<ExportFileRow, "number" | "locationId" | "provider"> {
  config: string;
  tills: { position: number; tillId: string }[];
}

/** What an export is to hold: the tills of each file in the order in which they were closed. */
export async function findPlannedExportFiles(sql: SqlClient, exportId: string): Promise<PlannedExportFile[]> {
  return sql<PlannedExportFile[]>`
    select number, location_id, provider, config, (
      select json_agg(
        json_build_object('position', position, 'tillId', till_id)
        order by finalized::json ->> 'finalizedAt' collate "C", till_id
      )
      from accounting_items item left join reports using (till_id)
      where item.export_id = file.export_id and item.file_number = file.number
    ) as tills
    from accounting_files file where export_id = ${exportId} order by number`;
}

/** How many exports are removed at a time. */
const portion = 50;

/** Removes exports with their files once they are too old; they can be made again from the same tills. */
export async function deleteExpiredExports(db: Database, days: number): Promise<void> {
  const removePortion = async (tx: SqlTransaction) => {
    const old = await tx<{ id: string }[]>`
      select id from accounting_exports
      where created_at < now() - ${days} * interval '1 day' and state in ('done', 'failed')
      order by created_at limit ${portion} for update skip locked`;
    const ids = old.map(({ id }) => id);
    await tx`delete from accounting_items where export_id = any(${ids}::uuid[])`;
    await tx`delete from accounting_files where export_id = any(${ids}::uuid[])`;
    await tx`delete from accounting_exports where id = any(${ids}::uuid[])`;
    return ids.length;
  };
  while ((await db.transaction(removePortion)) === portion);
}

/** What the reporting service has of a till: its report and what entries need beside it, when it has them. */
export interface StoredTillReport {
  v2: string;
  accountingFacts: string | null;
}

export async function findReportOfTill(
  sql: SqlClient,
  { tillId, locationId }: { tillId: string; locationId: string },
): Promise<StoredTillReport | undefined> {
  const [row] = await sql<StoredTillReport[]>`
    select v2, accounting_facts from reports where till_id = ${tillId} and location_id = ${locationId}`;
  return row;
}

/** The locations of those of these tills that there are. */
export async function findLocationsOfTills(tx: SqlTransaction, ids: string[]): Promise<Map<string, string>> {
  const rows = await tx<{ tillId: string; locationId: string }[]>`
    select till_id, location_id from tills where till_id = any(${ids}::uuid[])`;
  return new Map(rows.map(({ tillId, locationId }) => [tillId, locationId]));
}

function isClaimHeld(sql: SqlClient | SqlTransaction, { id, attempt }: ExportClaim) {
  return sql`id = ${id} and attempt = ${attempt} and state = 'running'`;
}
