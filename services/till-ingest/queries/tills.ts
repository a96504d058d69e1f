import type { PosApplicationName } from "@pragma/contracts/pos-application";
import { listPartitionNames } from "@pragma/runtime/database/partitions";
import type { Database, SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";

/** The columns that a push or a replacement provides. All other columns are set by the queries. */
export interface NewTillRow {
  id: string;
  locationId: string;
  application: PosApplicationName;
  serverId: number | null;
  format: "V1" | "V2";
  isTraining: boolean;
  hash: string;
  objectKey: string;
  size: number;
  timeZone: string;
  orderCount: number;
}

/** A till with its current revision. */
export interface TillRow extends NewTillRow {
  revision: number;
  createdAt: Date;
  updatedAt: Date;
  /** SHA-256 of the pushed body if its personal data was erased later; otherwise null. */
  pushedHash: string | null;
  /** The last revision that erased personal data; null if there is none. */
  erasedRevision: number | null;
  /** The time at which the till is requeued if it still has no report; null if it does not wait for a report. */
  nextRequeueAt: Date | null;
  requeueCount: number;
  /** The last revision whose report is computed, or that needs none; null if there is none. */
  resultRevision: number | null;
  /** The last revision whose report could not be computed, and why; null if there is none. */
  parkedRevision: number | null;
  parkedReason: string | null;
}

/** The key of a till. The location comes first in the keys of all tables, which are partitioned by it. */
export type TillKey = Pick<TillRow, "locationId" | "id">;

export type TillRevisionKey = Pick<TillRow, "locationId" | "revision"> & { tillId: string };

/** Queries select these instead of `*`, because prepared statements with `*` fail after a migration adds a column. */
export const tillColumns = (sql: SqlClient | SqlTransaction) => sql`
  id, location_id, application, server_id, format, revision, is_training, hash, object_key, size, time_zone,
  order_count, created_at, updated_at, pushed_hash, erased_revision, next_requeue_at, requeue_count, result_revision,
  parked_revision, parked_reason`;

export async function findTillRow(
  sql: SqlClient | SqlTransaction,
  { locationId, id }: TillKey,
): Promise<TillRow | undefined> {
  const [till] = await sql<TillRow[]>`
    select ${tillColumns(sql)} from tills where location_id = ${locationId} and id = ${id}`;
  return till;
}

export async function lockTillRow(tx: SqlTransaction, { locationId, id }: TillKey): Promise<TillRow | undefined> {
  const [till] = await tx<TillRow[]>`
    select ${tillColumns(tx)} from tills where location_id = ${locationId} and id = ${id} for update`;
  return till;
}

/** Records the result of a revision, unless the result of this revision or of a higher revision is already recorded. */
export async function recordTillReportResult(
  tx: SqlTransaction,
  { locationId, tillId, revision, reportVersion }: TillRevisionKey & { reportVersion: number | null },
): Promise<void> {
  await tx`
    update tills set
      result_revision = ${revision}, report_version = ${reportVersion},
      next_requeue_at = case when revision > ${revision} then next_requeue_at end
    where location_id = ${locationId} and id = ${tillId} and coalesce(result_revision, 0) < ${revision}`;
}

/** Returns the keys of the tills of all locations whose report is overdue: up to `limit`, those overdue the longest. */
export async function listTillsToRequeue(sql: SqlClient, limit: number): Promise<TillKey[]> {
  const tills: (TillKey & { nextRequeueAt: Date })[] = [];
  for (const suffix of await listTillPartitionSuffixes(sql))
    tills.push(
      ...(await sql<(TillKey & { nextRequeueAt: Date })[]>`
        select location_id, id, next_requeue_at from ${sql(`tills${suffix}`)}
        where next_requeue_at <= now() order by next_requeue_at limit ${limit}`),
    );
  return tills.sort((a, b) => a.nextRequeueAt.getTime() - b.nextRequeueAt.getTime()).slice(0, limit);
}

/** Returns how many tills wait for their report and are not overdue, counted up to `limit`. */
export async function countTillsNotOverdueForReport(sql: SqlClient, limit: number): Promise<number> {
  return sumOverTillPartitions(
    sql,
    async (suffix, remaining) => {
      const rows = await sql`
        select 1 from ${sql(`tills${suffix}`)}
        where next_requeue_at > now() and requeue_count = 0 limit ${remaining}`;
      return rows.length;
    },
    limit,
  );
}

type TillWithOverdueReport = TillRevisionKey &
  Pick<TillRow, "requeueCount" | "nextRequeueAt"> & {
    /** When this revision was created. */
    waitingSince: Date;
  };

/** Returns the tills that have waited for their report for at least `seconds`, oldest first. */
export async function listTillsWithOverdueReport(
  sql: SqlClient,
  { seconds, limit }: { seconds: number; limit: number },
): Promise<TillWithOverdueReport[]> {
  const tills: TillWithOverdueReport[] = [];
  for (const suffix of await listTillPartitionSuffixes(sql))
    tills.push(
      ...(await sql<TillWithOverdueReport[]>`
        select
          id as till_id, till.location_id, till.revision, version.created_at as waiting_since, requeue_count,
          next_requeue_at
        from ${sql(`tills${suffix}`)} till join ${sql(`till_versions${suffix}`)} version
          on version.location_id = till.location_id and till_id = id and version.revision = till.revision
        where next_requeue_at is not null and version.created_at < now() - make_interval(secs => ${seconds})
        order by version.created_at limit ${limit}`),
    );
  return tills.sort((a, b) => a.waitingSince.getTime() - b.waitingSince.getTime()).slice(0, limit);
}

/** Returns the id of the location that uses a till id; undefined if no location does. */
export async function findTillLocationId({ sql }: Pick<Database, "sql">, tillId: string): Promise<string | undefined> {
  const [row] = await sql<{ locationId: string }[]>`
    select location_id from till_directory where till_id = ${tillId}`;
  return row?.locationId;
}

/** Reserves a till id, and returns the location that has it. Waits for concurrent transactions with the id. */
export async function claimTillId(
  tx: SqlTransaction,
  { tillId, locationId }: { tillId: string; locationId: string },
): Promise<string> {
  const { count } = await tx`
    insert into till_directory ${tx({ tillId, locationId })} on conflict (till_id) do nothing`;
  if (count > 0) return locationId;
  // The lock keeps the till from being removed until the transaction ends.
  const [row] = await tx<{ locationId: string }[]>`
    select location_id from till_directory where till_id = ${tillId} for key share`;
  // Without a row, the till was removed in the meantime because of its age.
  return row ? row.locationId : claimTillId(tx, { tillId, locationId });
}

/**
 * Returns the suffixes of the partitions of `tills` and `till_versions`: `_p00` to `_p31`. Partitions with the same
 * suffix have the same locations, so statements over all locations read one pair at a time.
 */
export async function listTillPartitionSuffixes(sql: SqlClient | SqlTransaction): Promise<string[]> {
  const names = await listPartitionNames(sql, "tills");
  return names.map((name) => name.slice("tills".length));
}

/** Returns the sum of the counts that `count` returns for each partition, counted up to `limit`. */
export async function sumOverTillPartitions(
  sql: SqlClient | SqlTransaction,
  count: (suffix: string, remaining: number) => Promise<number>,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<number> {
  let sum = 0;
  for (const suffix of await listTillPartitionSuffixes(sql)) {
    if (sum >= limit) break;
    sum += await count(suffix, limit - sum);
  }
  return sum;
}

export function groupByLocation<Row extends { locationId: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.locationId);
    if (group) group.push(row);
    else groups.set(row.locationId, [row]);
  }
  return groups;
}
