import type { Database, SqlClient } from "../postgres.ts";
import { quoteIdentifier, quoteIdentifiers } from "./quote-identifier.ts";
import type { UnpartitionedTable } from "./unpartitioned-tables.ts";

/** How far a table is copied. It is stored in the transaction that copies the rows. */
export interface CopyProgress {
  /** The key of the last row that was copied, as texts; null before the first row. */
  lastKey: string[] | null;
  rowCount: number;
  isCopied: boolean;
}

/** Creates the table with the progress of the copies, so that an interrupted run can continue. */
export async function createProgressTable(sql: SqlClient): Promise<void> {
  await sql`
    create table if not exists partitioning_progress (
      name text primary key, last_key text[], row_count bigint not null default 0, is_copied boolean not null default false
    )`;
}

export async function findCopyProgress(sql: SqlClient, { name }: UnpartitionedTable): Promise<CopyProgress> {
  const [row] = await sql<CopyProgress[]>`
    select last_key, row_count, is_copied from partitioning_progress where name = ${name}`;
  return row ?? { lastKey: null, rowCount: 0, isCopied: false };
}

/** Makes the next run copy the table from its start. Rows that are copied already are skipped then. */
export async function resetCopyProgress(sql: SqlClient, { name }: UnpartitionedTable): Promise<void> {
  await sql`delete from partitioning_progress where name = ${name}`;
}

/**
 * Returns the clauses that select up to $2 rows after the key $1, an array of texts, in the sequence of the key. $1 is
 * null for the first rows.
 */
export function buildKeysetClauses({ name, key }: UnpartitionedTable): string {
  const keyColumns = quoteIdentifiers(key.map((column) => column.name));
  const afterKey = key.map(({ type }, index) => `($1::text[])[${index + 1}]::${type}`).join(", ");
  return `from ${quoteIdentifier(name)} where $1::text[] is null or (${keyColumns}) > (${afterKey})
    order by ${keyColumns} limit $2`;
}

/** Returns an expression for the last key of the rows of `source`, as an array of texts. */
export function buildLastKeyExpression({ key }: UnpartitionedTable, source: string): string {
  const names = key.map(({ name }) => quoteIdentifier(name));
  const texts = names.map((name) => `${name}::text`).join(", ");
  const order = names.map((name) => `${name} desc`).join(", ");
  return `(select array[${texts}] from ${source} order by ${order} limit 1)`;
}

/** Milliseconds after which a batch that waits for a lock gives up, before PostgreSQL would abort a deadlocked writer. */
const lockTimeoutMs = 200;

/**
 * Copies up to `limit` rows that follow the progress to the target, and returns the new progress. The rows are locked
 * against deletion until the end of the transaction, because a row that is deleted before its copy is inserted would
 * remain in the target. A concurrent update needs no lock: its mirrored row replaces the copy, or makes it unnecessary.
 *
 * @throws a transient error when a row is locked for longer than `lockTimeoutMs`.
 */
export async function copyBatch(
  db: Database,
  table: UnpartitionedTable,
  progress: CopyProgress,
  limit: number,
): Promise<CopyProgress> {
  const columns = quoteIdentifiers(table.columns);
  return db.transaction(async (tx) => {
    await tx.unsafe(`set local lock_timeout = ${lockTimeoutMs}`);
    const [batch] = await tx.unsafe<[{ rowCount: number; lastKey: string[] | null }]>(
      `with batch as (
        select ${columns} ${buildKeysetClauses(table)} for key share
      ), copied as (
        insert into ${quoteIdentifier(table.target)} (${columns}) select ${columns} from batch
        on conflict (${quoteIdentifiers(table.targetKey)}) do nothing
      )
      select (select count(*) from batch) as row_count, ${buildLastKeyExpression(table, "batch")} as last_key`,
      [progress.lastKey, limit],
    );
    const next = {
      lastKey: batch.lastKey ?? progress.lastKey,
      rowCount: progress.rowCount + batch.rowCount,
      isCopied: batch.rowCount === 0,
    };
    await tx`
      insert into partitioning_progress ${tx({ name: table.name, ...next })}
      on conflict (name) do update set
        last_key = excluded.last_key, row_count = excluded.row_count, is_copied = excluded.is_copied`;
    return next;
  });
}
