import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { TransientError } from "@pragma/runtime/retries/transient-error";
import { keepUploadedObject } from "../documents/queries/unused-objects.ts";
import type { ExportKind, ExportTypes } from "./export-kind.ts";
import {
  deleteExportFiles,
  type ExportFileRow,
  isUnfinished,
  toJson,
  type WrittenFileRow,
} from "./queries/export-queries.ts";

/** The claim (lease) of a process to an export. Only the process with the latest claim can store files. */
export interface ExportClaim {
  id: string;
  locationId: string | null;
  claimNumber: number;
  failedAttempts: number;
  /** The W3C trace context of the request that created the export. */
  traceparent: string | null;
}

/**
 * The unfinished exports of a kind that can be claimed, with their rank among those of their location. After a failed
 * attempt, `claimed_until` is the time of the retry.
 */
const claimableExports = (sql: SqlClient, { name, isOneAtATimePerLocation }: ExportKind<ExportTypes>) => sql`
  exports export join (
    select id, row_number() over (
      partition by coalesce(location_id, key_id) order by state = 'running' desc, created_at, id
    ) as rank
    from exports where kind = ${name} and ${isUnfinished(sql)}
  ) ranked using (id)
  where ${isUnfinished(sql)} and (claimed_until is null or claimed_until < now()) ${isOneAtATimePerLocation ? sql`and rank = 1` : sql``}`;

export const isHeld = (sql: SqlClient | SqlTransaction, { id, claimNumber }: ExportClaim) => sql`
  id = ${id} and claim_number = ${claimNumber} and state = 'running'`;

const crashedAttempts = 3;

/**
 * Claims up to `limit` exports for `seconds`. Prefers locations with fewer running exports, then the export that has
 * waited longest. An attempt whose claim expired may have crashed the process, and counts as several.
 */
export async function claimExports(
  sql: SqlClient,
  kind: ExportKind<ExportTypes>,
  { limit, seconds }: { limit: number; seconds: number },
): Promise<ExportClaim[]> {
  return sql<ExportClaim[]>`
    with due as (
      select export.id from ${claimableExports(sql, kind)}
      order by rank, coalesce(claimed_until, created_at) limit ${limit} for update of export skip locked
    )
    update exports export set
      state = 'running', claim_number = claim_number + 1,
      failed_attempts = failed_attempts + case state when 'running' then ${crashedAttempts}::int else 0 end,
      claimed_until = now() + make_interval(secs => ${seconds}), started_at = coalesce(started_at, now())
    from due where export.id = due.id
    returning export.id, location_id, claim_number, failed_attempts, traceparent`;
}

/** Returns whether an export of another location waits for a process. */
export async function isExportOfOtherLocationDue(
  sql: SqlClient,
  kind: ExportKind<ExportTypes>,
  { locationId }: ExportClaim,
): Promise<boolean> {
  const [row] = await sql<[{ isDue: boolean }]>`
    select exists (
      select from ${claimableExports(sql, kind)} and location_id is distinct from ${locationId}
    ) as is_due`;
  return row.isDue;
}

/** Extends a claim, and stores the progress for clients. Returns false when the claim was lost. */
export async function renewExportClaim(
  sql: SqlClient,
  claim: ExportClaim,
  { seconds, progress }: { seconds: number; progress: object },
): Promise<boolean> {
  const renewed = await sql`
    update exports set claimed_until = now() + make_interval(secs => ${seconds}), progress = ${toJson(sql, progress)}
    where ${isHeld(sql, claim)}`;
  return renewed.count === 1;
}

/** Releases a claim. Any process can claim the export again after `afterSeconds`. */
export async function releaseExportClaim(
  sql: SqlClient,
  claim: ExportClaim,
  { afterSeconds = 0, hasFailed = false } = {},
): Promise<void> {
  await sql`
    update exports set state = 'queued', claimed_until = now() + make_interval(secs => ${afterSeconds}),
      failed_attempts = failed_attempts + ${hasFailed ? 1 : 0}
    where ${isHeld(sql, claim)}`;
}

/** A file to store: a complete file, whose object was uploaded, or the details of a planned one that is not written. */
export type FileToStore<Types extends ExportTypes> = Pick<ExportFileRow<Types>, "number" | "locationId" | "details"> &
  Partial<Pick<WrittenFileRow<Types>, "name" | "objectKey" | "bytes" | "sha256">> & {
    tillIds?: string[];
  };

/**
 * Stores uploaded files and the progress. `end` ends the export, which is stored for some days then. Returns false when the claim was lost.
 *
 * @throws `TransientError` when the upload took so long that an object may be deleted.
 */
export async function storeExportFiles<Types extends ExportTypes>(
  tx: SqlTransaction,
  claim: ExportClaim,
  files: FileToStore<Types>[],
  { progress, end }: { progress: Types["progress"]; end?: { state: "done" | "failed"; retentionDays: number } },
): Promise<boolean> {
  const updated = await tx`
    update exports set progress = ${toJson(tx, progress)}, failed_attempts = 0 ${end ? tx`, ${endColumns(tx, end)}` : tx``}
    where ${isHeld(tx, claim)}`;
  if (updated.count === 0) return false;
  for (const { details, ...file } of files) {
    const { locationId, objectKey } = file;
    if (objectKey !== undefined && !(await keepUploadedObject(tx, { locationId, objectKey })))
      throw new TransientError(`The upload of ${objectKey} took too long.`);
    const row = { ...file, exportId: claim.id, details: toJson(tx, details) };
    await tx`
      insert into export_files ${tx(row as never)} on conflict (export_id, number) do update set
        details = excluded.details, name = excluded.name, object_key = excluded.object_key, bytes = excluded.bytes,
        sha256 = excluded.sha256`;
  }
  return true;
}

const endColumns = (
  tx: SqlTransaction,
  { state, retentionDays }: { state: "done" | "failed"; retentionDays: number },
) => tx`
  state = ${state}, finished_at = now(), expires_at = now() + make_interval(days => ${retentionDays}), claimed_until = null`;

/** Ends an export without files. */
export async function failExport(
  tx: SqlTransaction,
  claim: ExportClaim,
  { failure, retentionDays }: { failure: object; retentionDays: number },
): Promise<void> {
  const updated = await tx`
    update exports set failure = ${toJson(tx, failure)}, ${endColumns(tx, { state: "failed", retentionDays })}
    where ${isHeld(tx, claim)}`;
  if (updated.count === 1) await deleteExportFiles(tx, [claim.id]);
}
