import type { PosApplication } from "@pragma/contracts/pos-application";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";

/** A till as it is held now. */
export interface TillRow {
  id: string;
  locationId: string;
  application: PosApplication;
  serverId: number | null;
  format: "V1" | "V2";
  revision: number;
  isTraining: boolean;
  hash: string;
  objectKey: string;
  size: number;
  timeZone: string;
  createdAt: Date;
  updatedAt: Date;
  /** Of the body that was pushed, once its personal data was erased. */
  pushedHash: string | null;
  /** When the till is announced again unless it has its result by then; null when it has. */
  nextSweepAt: Date | null;
  /** How often it was announced again. */
  sweeps: number;
}

/** A till as it comes in for the first time. */
export type NewTill = Omit<TillRow, "revision" | "createdAt" | "updatedAt" | "pushedHash" | "nextSweepAt" | "sweeps">;

export async function findTill(sql: SqlClient | SqlTransaction, id: string): Promise<TillRow | undefined> {
  const [till] = await sql<TillRow[]>`select * from tills where id = ${id}`;
  return till;
}

/** Inserts a till as its first revision, unless its id is taken; waits for whoever is inserting one of the same id. */
export async function insertTill(tx: SqlTransaction, till: NewTill, sweepAfter: number): Promise<TillRow | undefined> {
  const first = { ...till, revision: 1 };
  const [inserted] = await tx<TillRow[]>`
    insert into tills ${tx({ ...first, ...pendingResultColumns(first, sweepAfter) })}
    on conflict (id) do nothing
    returning *`;
  return inserted;
}

/** The till's body is the one that was pushed, which had this hash, without its personal data. */
export async function recordTillErasure(
  tx: SqlTransaction,
  { tillId, pushedHash }: { tillId: string; pushedHash: string },
): Promise<void> {
  await tx`update tills set pushed_hash = ${pushedHash} where id = ${tillId}`;
}

/** The till, locked until the transaction ends. */
export async function lockTill(tx: SqlTransaction, id: string): Promise<TillRow | undefined> {
  const [till] = await tx<TillRow[]>`select * from tills where id = ${id} for update`;
  return till;
}

/** Makes this the till's next revision: with another body, or, when `body` is left out, with the one that it has. */
export async function createNextRevision(
  tx: SqlTransaction,
  till: TillRow,
  { body, sweepAfter }: { body?: NewTill; sweepAfter: number },
): Promise<TillRow> {
  const next = { revision: till.revision + 1, isTraining: body?.isTraining ?? till.isTraining };
  const replaced = body && {
    format: body.format,
    serverId: body.serverId,
    hash: body.hash,
    objectKey: body.objectKey,
    size: body.size,
    timeZone: body.timeZone,
    pushedHash: null,
    updatedAt: new Date(),
  };
  const [updated] = await tx<[TillRow]>`
    update tills set ${tx({ ...next, ...replaced, ...pendingResultColumns(next, sweepAfter) })}
    where id = ${till.id} returning *`;
  return updated;
}

/**
 * What says that a revision waits for its result, and is announced again when it has none after `sweepAfter` seconds.
 * A training till yields no report: pushed as one, it is done as soon as it is accepted. One that has become a training
 * till waits for the report of its earlier revision to be taken away.
 */
function pendingResultColumns({ revision, isTraining }: Pick<TillRow, "revision" | "isTraining">, sweepAfter: number) {
  return isTraining && revision === 1
    ? { resultRevision: revision, nextSweepAt: null, sweeps: 0 }
    : { resultRevision: null, nextSweepAt: new Date(Date.now() + sweepAfter * 1000), sweeps: 0 };
}

interface TillResult {
  tillId: string;
  revision: number;
  reportVersion: number | null;
}

/** Notes what a revision was turned into. That of a lower revision than the last noted changes nothing. */
export async function recordTillResult(
  tx: SqlTransaction,
  { tillId, revision, reportVersion }: TillResult,
): Promise<void> {
  await tx`
    update tills set
      result_revision = ${revision}, report_version = ${reportVersion},
      next_sweep_at = case when revision > ${revision} then next_sweep_at end
    where id = ${tillId} and coalesce(result_revision, 0) < ${revision}`;
}

/** Tills whose result is overdue, longest first; locked, those that another transaction has locked left out. */
export async function lockOverdueTills(tx: SqlTransaction, limit: number): Promise<TillRow[]> {
  return tx<TillRow[]>`
    select * from tills where next_sweep_at <= now() order by next_sweep_at limit ${limit} for update skip locked`;
}

/** These tills were announced again: they are given twice the time of before, a day at most. */
export async function postponeRequeue(tx: SqlTransaction, ids: string[], { sweepAfter }: { sweepAfter: number }) {
  await tx`
    update tills set
      sweeps = sweeps + 1,
      next_sweep_at = now() + least(make_interval(secs => ${sweepAfter} * power(2, least(sweeps + 1, 20))), '1 day')
    where id = any(${ids}::uuid[])`;
}

/** How many tills wait for their result and are not overdue, counted up to `limit`. */
export async function countPendingTills(sql: SqlClient, limit: number): Promise<number> {
  const rows = await sql`
    select 1 from tills where next_sweep_at > now() and sweeps = 0 limit ${limit}`;
  return rows.length;
}

/** A till whose result is waited for longer than it should be. */
export interface UnfinishedTill {
  tillId: string;
  locationId: string;
  revision: number;
  /** When this revision came to be. */
  waitingSince: Date;
  /** How often it was announced again, and when it is next. */
  sweeps: number;
  nextSweepAt: Date;
}

/** The tills that have had no result for so many seconds, longest first. */
export async function listUnfinishedTills(sql: SqlClient, { seconds, limit }: { seconds: number; limit: number }) {
  return sql<UnfinishedTill[]>`
    select id as till_id, location_id, tills.revision, version.created_at as waiting_since, sweeps, next_sweep_at
    from tills join till_versions version on till_id = id and version.revision = tills.revision
    where next_sweep_at is not null and version.created_at < now() - make_interval(secs => ${seconds})
    order by version.created_at limit ${limit}`;
}

/** Has a till announced again at once, unless it has its result; whether it does not. */
export async function requeueTillNow(sql: SqlClient, tillId: string): Promise<boolean> {
  const { count } = await sql`
    update tills set next_sweep_at = now() where id = ${tillId} and next_sweep_at is not null`;
  return count > 0;
}

/** How many tills were announced again and still have no result. */
export async function countOverdueTills(sql: SqlClient): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*) from tills where next_sweep_at is not null and sweeps > 0`;
  return row.count;
}

/** The list of a location's tills that came in at a time (a date-time) or later. */
export const tillListQuery = (sql: SqlClient, { locationId, since }: { locationId: string; since: string }) => ({
  columns: sql`*`,
  table: sql`tills`,
  where: sql`location_id = ${locationId} and created_at >= ${since}`,
});

/** Which of these tills of a legacy backoffice a location has. */
export async function findExistingServerIds(
  sql: SqlClient,
  locationId: string,
  serverIds: number[],
): Promise<Set<number>> {
  const rows = await sql<{ serverId: number }[]>`
    select server_id from tills
    where location_id = ${locationId} and server_id = any(${serverIds}::bigint[]) and server_id is not null`;
  return new Set(rows.map((row) => row.serverId));
}
