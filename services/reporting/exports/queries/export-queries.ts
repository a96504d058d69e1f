import type { BulkExportState } from "@pragma/contracts/bulk-export";
import {
  type Database,
  lockInTransaction,
  type SqlClient,
  type SqlTransaction,
} from "@pragma/runtime/database/postgres";
import { isRemovedLocationError } from "@pragma/runtime/retries/transient-error";
import type { ExportKindName, ExportTypes } from "../export-kind.ts";

export interface ExportRow<Types extends ExportTypes> {
  id: string;
  /** Null for an accounting export with tills of several locations. */
  locationId: string | null;
  request: Types["request"];
  state: BulkExportState;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  expiresAt: Date | null;
  progress: Partial<Types["progress"]>;
  failure: Types["failure"] | null;
}

export interface ExportFileRow<Types extends ExportTypes> {
  number: number;
  locationId: string;
  details: Types["fileDetails"];
  /** Null, as the fields below, until the file is written. */
  name: string | null;
  objectKey: string | null;
  bytes: number | null;
  sha256: string | null;
}

export type WrittenFileRow<Types extends ExportTypes> = {
  [Field in keyof ExportFileRow<Types>]: NonNullable<ExportFileRow<Types>[Field]>;
};

export interface StoredExport<Types extends ExportTypes> {
  row: ExportRow<Types>;
  files: ExportFileRow<Types>[];
}

/** The columns of `ExportRow`. */
export const exportColumnNames = (sql: SqlClient | SqlTransaction) => sql`
  id, location_id, request, state, created_at, started_at, finished_at, expires_at, progress, failure`;

/** Returns the SQL expression for a value as JSON, whose keys keep their sequence, in contrast to those of jsonb. */
export const toJson = (sql: SqlClient | SqlTransaction, value: object) => sql`${JSON.stringify(value)}::text::json`;

export const isUnfinished = (sql: SqlClient | SqlTransaction) => sql`state in ('queued', 'running')`;

export function isWrittenFile<Types extends ExportTypes>(file: ExportFileRow<Types>): file is WrittenFileRow<Types> {
  return file.objectKey !== null;
}

/** Returns an export with its files; `locationId` null matches any location. */
export async function findExport<Types extends ExportTypes>(
  sql: SqlClient,
  kind: ExportKindName,
  { id, locationId }: { id: string; locationId: string | null },
): Promise<StoredExport<Types> | undefined> {
  return sql.begin("isolation level repeatable read read only", async (tx) => {
    const [row] = await tx<ExportRow<Types>[]>`
      select ${exportColumnNames(tx)} from exports
      where id = ${id} and kind = ${kind} and ${locationId === null ? tx`true` : tx`location_id = ${locationId}`}`;
    return row && { row, files: await listExportFiles<Types>(tx, id) };
  });
}

export async function listExportFiles<Types extends ExportTypes>(
  sql: SqlClient | SqlTransaction,
  exportId: string,
): Promise<ExportFileRow<Types>[]> {
  return sql<ExportFileRow<Types>[]>`
    select number, location_id, details, name, object_key, bytes, sha256
    from export_files where export_id = ${exportId} order by number`;
}

/** Makes other transactions that lock the exports of the location, or of the API key, wait until the transaction ends. */
export async function lockExports(tx: SqlTransaction, db: Database, ownerId: string): Promise<void> {
  await lockInTransaction(tx, db, `exports of ${ownerId}`);
}

/** Deletes the files of exports. Their objects are deleted from the object store within a minute. */
export async function deleteExportFiles(tx: SqlTransaction, exportIds: string[]): Promise<void> {
  await tx`
    with deleted as (
      delete from export_files where export_id = any(${exportIds}::uuid[]) returning location_id, object_key
    )
    insert into unused_objects (location_id, object_key, delete_after)
    select location_id, object_key, now() from deleted where object_key is not null on conflict do nothing`;
}

/** Deletes an export and its files, also while it runs. Returns false when it does not exist. */
export async function deleteExport(tx: SqlTransaction, id: string): Promise<boolean> {
  const [row] = await tx`select from exports where id = ${id} for update`;
  if (!row) return false;
  await deleteExportFiles(tx, [id]);
  await tx`delete from exports where id = ${id}`;
  return true;
}

const maxDeletedPerRun = 1_000;

/** Deletes expired exports and their files. */
export async function deleteExpiredExports(db: Database): Promise<void> {
  const expired = await db.sql<{ id: string }[]>`
    select id from exports where expires_at < now() order by expires_at limit ${maxDeletedPerRun}`;
  for (const { id } of expired) {
    await db
      .transaction((tx) => deleteExport(tx, id))
      .catch((error: unknown) => {
        // The command that removes the location deletes the export.
        if (!isRemovedLocationError(error)) throw error;
      });
  }
}

export async function hasUnfinishedExport(sql: SqlClient, kind: ExportKindName): Promise<boolean> {
  const [unfinished] = await sql`select from exports where kind = ${kind} and ${isUnfinished(sql)} limit 1`;
  return unfinished !== undefined;
}

/** Returns the age in seconds of the oldest unfinished export of a kind, and the number of its unfinished exports. */
export async function measureUnfinishedExports(
  sql: SqlClient,
  kind: ExportKindName,
): Promise<{ unfinished: number; oldestSeconds: number }> {
  const [row] = await sql<[{ unfinished: number; oldestSeconds: number }]>`
    select count(*) as unfinished, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as oldest_seconds
    from exports where kind = ${kind} and ${isUnfinished(sql)}`;
  return row;
}
