import type { AccountingExport, AccountingProvider } from "@pragma/contracts/accounting-export";
import {
  acquireTransactionAdvisoryLock,
  type Database,
  type SqlClient,
  type SqlTransaction,
  toRecordsetParameter,
} from "@pragma/runtime/database/postgres";
import { listTillsByClosingTime, type TillReportName } from "./reports.ts";

export interface AccountingExportRow {
  id: string;
  /** Null if the export contains tills of several locations. */
  locationId: string | null;
  state: AccountingExport["state"];
  attempt: number;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
}

export interface AccountingExportTillRow {
  locationId: string;
  position: number;
  tillId: string;
  fileNumber: number;
  state: "pending" | "done" | "failed";
  failure: string | null;
}

/** The metadata of a file. All nullable fields are null until the file is written. */
export interface AccountingExportFileMetadataRow {
  number: number;
  locationId: string;
  configId: string;
  provider: AccountingProvider;
  name: string | null;
  etag: string | null;
  entries: number | null;
  /** Size of the file in bytes. */
  size: number | null;
}

interface NewAccountingExport extends Pick<AccountingExportRow, "id" | "locationId"> {
  keyId: string;
  consumer: string;
  traceparent: string;
  files: (Pick<AccountingExportFileMetadataRow, "number" | "locationId" | "configId" | "provider"> & {
    config: string;
  })[];
  items: Pick<AccountingExportTillRow, "locationId" | "position" | "tillId" | "fileNumber">[];
}

export async function insertAccountingExportWithFiles(
  tx: SqlTransaction,
  { files, items, ...row }: NewAccountingExport,
): Promise<void> {
  await tx`insert into accounting_exports ${tx({ ...row, state: "pending" })}`;
  await tx`insert into accounting_files ${tx(files.map((file) => ({ exportId: row.id, ...file })))}`;
  await tx`insert into accounting_export_tills ${tx(items.map((item) => ({ exportId: row.id, ...item })))}`;
}

/**
 * SQL condition for the files or items of an export. Only those of an export with tills of several locations are found
 * without a location.
 */
const belongsToExport = (
  sql: SqlClient | SqlTransaction,
  { id, locationId }: Pick<AccountingExportRow, "id" | "locationId">,
) => sql`
  ${locationId === null ? sql`true` : sql`location_id = ${locationId}`} and export_id = ${id}`;

/** Returns an export with its items and files; `locationId` null matches any location. */
export async function findAccountingExport(
  sql: SqlClient,
  { id, locationId }: { id: string; locationId: string | null },
): Promise<
  { row: AccountingExportRow; items: AccountingExportTillRow[]; files: AccountingExportFileMetadataRow[] } | undefined
> {
  return sql.begin("isolation level repeatable read read only", async (tx) => {
    const isVisible = locationId === null ? tx`true` : tx`location_id = ${locationId}`;
    const [row] = await tx<AccountingExportRow[]>`
      select id, location_id, state, attempt, created_at, started_at, finished_at
      from accounting_exports where id = ${id} and ${isVisible}`;
    if (!row) return undefined;
    const [items, files] = await Promise.all([
      tx<AccountingExportTillRow[]>`
        select location_id, position, till_id, file_number, state, failure
        from accounting_export_tills where ${belongsToExport(tx, row)} order by position`,
      tx<AccountingExportFileMetadataRow[]>`
        select number, location_id, config_id, provider, name, etag, entries, octet_length(content) as size
        from accounting_files where ${belongsToExport(tx, row)} order by number`,
    ]);
    return { row, items, files };
  });
}

interface StoredExportFile {
  locationId: string;
  name: string;
  etag: string;
  provider: AccountingProvider;
  /** Size of the file in bytes. */
  size: number;
}

/**
 * Returns the metadata of a file of an export. `file` is missing if the file does not exist or is not written yet.
 * Returns undefined if the export does not exist. `locationId` null matches any location.
 */
export async function findAccountingExportFileMetadata(
  sql: SqlClient,
  { exportId, number, locationId }: { exportId: string; number: number; locationId: string | null },
): Promise<{ file?: StoredExportFile } | undefined> {
  const isOfLocation = (table: string) =>
    locationId === null ? sql`true` : sql`${sql(table)}.location_id = ${locationId}`;
  const [row] = await sql<(StoredExportFile | { size: null })[]>`
    select file.location_id, file.name, file.etag, file.provider, octet_length(file.content) as size
    from accounting_exports left join accounting_files file
      on file.export_id = id and file.number = ${number} and ${isOfLocation("file")}
    where id = ${exportId} and ${isOfLocation("accounting_exports")}`;
  return row && (row.size === null ? {} : { file: row });
}

/** Maximum number of bytes per query. It is limited, because the driver's hex conversion blocks the event loop. */
const chunkBytes = 1024 * 1024;

/**
 * Returns the bytes of a file that begin at `offset`, at most one chunk.
 *
 * @throws Error when the file was deleted, or has no bytes at `offset`.
 */
export async function readAccountingExportFileChunk(
  sql: SqlClient,
  { locationId, exportId, number, offset }: { locationId: string; exportId: string; number: number; offset: number },
): Promise<Uint8Array> {
  const [row] = await sql<{ chunk: Uint8Array }[]>`
    select substring(content from ${offset + 1} for ${chunkBytes}) as chunk
    from accounting_files where location_id = ${locationId} and export_id = ${exportId} and number = ${number}`;
  if (!row || row.chunk.byteLength === 0) throw new Error("The export file was truncated or removed.");
  return row.chunk;
}

/** The claim (lease) of a process to an export. Only the process with the latest claim can store the result. */
export interface AccountingExportClaim {
  id: string;
  /** Null if the export contains tills of several locations. */
  locationId: string | null;
  attempt: number;
  /** The W3C trace context of the request that created the export. */
  traceparent: string | null;
}

/** SQL condition for exports that can be claimed. After a failed attempt, `claimed_until` is the time of the retry. */
const isClaimable = (sql: SqlClient) => sql`
  state in ('pending', 'running') and (claimed_until is null or claimed_until < now())`;

/**
 * Claims up to `limit` exports for `seconds`. Prefers locations with fewer running exports, and claims the oldest
 * exports of a location first. Claiming an export whose previous claim expired counts as three attempts.
 */
export async function claimAccountingExports(
  sql: SqlClient,
  { limit, seconds }: { limit: number; seconds: number },
): Promise<AccountingExportClaim[]> {
  return sql<AccountingExportClaim[]>`
    with due as (
      select export.id from accounting_exports export join (
        select id, row_number() over (partition by location_id order by state desc, created_at) as rank
        from accounting_exports where state in ('pending', 'running')
      ) ranked using (id)
      where ${isClaimable(sql)}
      order by rank, created_at limit ${limit} for update of export skip locked
    )
    update accounting_exports export set
      state = 'running', attempt = attempt + case state when 'running' then 3 else 1 end,
      claimed_until = now() + make_interval(secs => ${seconds}),
      started_at = coalesce(started_at, now())
    from due where export.id = due.id
    returning export.id, export.location_id, attempt, traceparent`;
}

/** Extends a claim. Returns false when another process has claimed the export since. */
export async function renewAccountingExportClaim(
  sql: SqlClient,
  claim: AccountingExportClaim,
  { seconds }: { seconds: number },
): Promise<boolean> {
  const renewed = await sql`
    update accounting_exports set claimed_until = now() + make_interval(secs => ${seconds}) where ${isClaimHeld(sql, claim)}`;
  return renewed.count === 1;
}

/** Releases a claim. Any process can claim the export again after `afterSeconds`. */
export async function releaseAccountingExportClaim(
  sql: SqlClient,
  claim: AccountingExportClaim,
  { afterSeconds = 0 } = {},
): Promise<void> {
  await sql`
    update accounting_exports set state = 'pending', claimed_until = now() + make_interval(secs => ${afterSeconds})
    where ${isClaimHeld(sql, claim)}`;
}

/**
 * Returns the number of unfinished exports of a location. If `locationId` is null, returns the number of unfinished
 * exports with tills of several locations that the API key created. Other calls for the same location or key wait until
 * the transaction ends, so that concurrent requests cannot exceed the limit.
 */
export async function lockAndCountUnfinishedExports(
  tx: SqlTransaction,
  db: Database,
  owner: Pick<NewAccountingExport, "locationId" | "keyId">,
) {
  const id = owner.locationId ?? owner.keyId;
  await acquireTransactionAdvisoryLock(tx, db, `exports of ${id}`);
  const [row] = await tx<[{ count: number }]>`
    select count(*) from accounting_exports
    where state in ('pending', 'running') and coalesce(location_id, key_id) = ${id}`;
  return row.count;
}

export async function countUnfinishedAccountingExports(sql: SqlClient): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*) from accounting_exports where state in ('pending', 'running')`;
  return row.count;
}

/** Returns the pending and running exports in the format of the operators' route, oldest first. */
export async function listUnfinishedAccountingExports(sql: SqlClient, limit: number) {
  return sql`
    select id as export_id, location_id, state, created_at, attempt as attempts, claimed_until
    from accounting_exports where state in ('pending', 'running') order by created_at limit ${limit}`;
}

export type TillAccountingExportResult = Pick<AccountingExportTillRow, "locationId" | "position" | "state" | "failure">;

export interface ComputedAccountingExport {
  state: "done" | "failed";
  items: TillAccountingExportResult[];
  files: {
    locationId: string;
    number: number;
    name: string;
    etag: string;
    entries: number;
    content: Uint8Array;
  }[];
}

/** Stores the result of an export. Stores nothing and returns false when another process has claimed the export. */
export async function storeAccountingExportResult(
  tx: SqlTransaction,
  claim: AccountingExportClaim,
  { state, items, files }: ComputedAccountingExport,
) {
  const updated = await tx`
    update accounting_exports set state = ${state}, finished_at = now(), claimed_until = null
    where ${isClaimHeld(tx, claim)}`;
  if (updated.count === 0) return false;
  for (const { locationId, number, content, ...file } of files) {
    const matchesFile = tx`location_id = ${locationId} and export_id = ${claim.id} and number = ${number}`;
    await tx`update accounting_files set ${tx({ ...file, content: Buffer.alloc(0) })} where ${matchesFile}`;
    for (let offset = 0; offset < content.byteLength; offset += chunkBytes) {
      const chunk = content.subarray(offset, offset + chunkBytes);
      await tx`update accounting_files set content = content || ${chunk}::bytea where ${matchesFile}`;
    }
  }
  for (const locationId of new Set(items.map((item) => item.locationId))) {
    const results = items.filter((item) => item.locationId === locationId);
    await tx`
      update accounting_export_tills as till set state = result.state, failure = result.failure
      from jsonb_to_recordset(${toRecordsetParameter(tx, results)}) as result (position int, state text, failure text)
      where till.location_id = ${locationId} and till.export_id = ${claim.id} and till.position = result.position`;
  }
  return true;
}

/** A file to write, with its config as JSON text and its tills. */
export interface PlannedAccountingExportFile
  extends Pick<AccountingExportFileMetadataRow, "number" | "locationId" | "provider"> {
  config: string;
  tills: (TillReportName & { position: number; tillId: string })[];
}

/** Returns the files to write for an export. The tills of each file are sorted by closing time. */
export async function findPlannedAccountingExportFiles(
  sql: SqlClient,
  claim: AccountingExportClaim,
): Promise<PlannedAccountingExportFile[]> {
  const files = await sql<PlannedAccountingExportFile[]>`
    select number, location_id, provider, config, (
      select json_agg(json_build_object('position', position, 'tillId', till_id))
      from accounting_export_tills till
      where till.location_id = file.location_id and till.export_id = file.export_id and till.file_number = file.number
    ) as tills
    from accounting_files file where ${belongsToExport(sql, claim)} order by number`;
  // Reports are read for one file at a time, so that each statement reads the reports of one location.
  for (const file of files) {
    const positions = new Map(file.tills.map(({ tillId, position }) => [tillId, position]));
    const sorted = await listTillsByClosingTime(sql, { locationId: file.locationId, tillIds: [...positions.keys()] });
    file.tills = sorted.map((till) => ({ ...till, position: positions.get(till.tillId) as number }));
  }
  return files;
}

const deleteBatchSize = 50;

/** Deletes finished exports that were created more than `days` days ago, with their items and files. */
export async function deleteExpiredAccountingExports(db: Database, days: number): Promise<void> {
  const deleteBatch = async (tx: SqlTransaction) => {
    const expired = await tx<Pick<AccountingExportRow, "id" | "locationId">[]>`
      select id, location_id from accounting_exports
      where created_at < now() - ${days} * interval '1 day' and state in ('done', 'failed')
      order by created_at limit ${deleteBatchSize} for update skip locked`;
    for (const row of expired) {
      await tx`delete from accounting_export_tills where ${belongsToExport(tx, row)}`;
      await tx`delete from accounting_files where ${belongsToExport(tx, row)}`;
      await tx`delete from accounting_exports where id = ${row.id}`;
    }
    return expired.length;
  };
  while ((await db.transaction(deleteBatch)) === deleteBatchSize);
}

function isClaimHeld(sql: SqlClient | SqlTransaction, { id, attempt }: AccountingExportClaim) {
  return sql`id = ${id} and attempt = ${attempt} and state = 'running'`;
}
