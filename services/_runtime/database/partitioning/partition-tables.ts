import { setTimeout as sleep } from "node:timers/promises";
import { isTransient } from "../../retries/transient-error.ts";
import { computeAdvisoryLockKey, type Database, type SqlTransaction, statementTimeoutSeconds } from "../postgres.ts";
import { type CopyProgress, copyBatch, createProgressTable, findCopyProgress, resetCopyProgress } from "./copy-rows.ts";
import { mirrorChanges, mirrorTriggerName } from "./mirror-changes.ts";
import { quoteIdentifier, quoteIdentifiers } from "./quote-identifier.ts";
import { findUnpartitionedTables, type UnpartitionedTable } from "./unpartitioned-tables.ts";
import { verifyCopy } from "./verify-copy.ts";

/** A step of the command, of one table or of all tables of the schema. */
export interface PartitioningStep {
  step: "mirroring" | "copying" | "copied" | "verifying" | "verified" | "replacing" | "replaced";
  table?: string;
  rowCount?: number;
}

interface PartitioningOptions {
  /** Maximum number of rows that one transaction copies. */
  maxBatchRows?: number;
  onStep(step: PartitioningStep): void;
}

/**
 * Replaces the tables of a schema by their partitioned tables while services use them: mirrors all changes to the
 * partitioned tables, copies the existing rows in batches, compares all rows, and renames the tables in one short
 * transaction. A run that was interrupted at any statement is continued by the next run.
 *
 * @returns the names of the tables that were replaced.
 * @throws `Error` when a copy differs, when a process of version 1.0 is connected, when no lock can be acquired, or when the
 * tables must first be prepared.
 */
export async function partitionTables(
  db: Database,
  { maxBatchRows = 1_000, onStep }: PartitioningOptions,
): Promise<string[]> {
  return withExclusiveRun(db, async () => {
    const tables = await findUnpartitionedTables(db.sql);
    // An earlier run may have been interrupted after it had replaced the tables.
    await dropForeignKeysOfReplacedTables(db);
    if (tables.length === 0) return [];
    await throwIfPartitioningMustWait(db);
    await createProgressTable(db.sql);
    onStep({ step: "mirroring" });
    for (const table of tables) {
      await repeatWhileLocked(() =>
        db.transaction(async (tx) => {
          await lockTables(tx, [table], "share row exclusive");
          await mirrorChanges(tx, table);
        }),
      );
    }
    for (const table of tables) await copyTable(db, table, { maxBatchRows, onStep });
    for (const table of tables) await verifyTable(db, table, onStep);
    onStep({ step: "replacing" });
    await repeatWhileLocked(() => db.transaction((tx) => replaceTables(tx, tables)));
    await dropForeignKeysOfReplacedTables(db);
    onStep({ step: "replaced" });
    return tables.map(({ name }) => name);
  });
}

/** @throws `Error` with the reason that the schema's function `find_partitioning_obstacle` returns, if it has one. */
async function throwIfPartitioningMustWait({ sql }: Database): Promise<void> {
  const functions = await sql`select 1 from pg_proc where oid = to_regproc('find_partitioning_obstacle')`;
  if (functions.length === 0) return;
  const [row] = await sql<[{ obstacle: string | null }]>`select find_partitioning_obstacle() as obstacle`;
  if (row.obstacle !== null) throw new Error(`The tables cannot be partitioned yet: ${row.obstacle}. Retry later.`);
}

/** Deletes the tables that `partitionTables` replaced, and returns their names. */
export async function dropReplacedTables(db: Database): Promise<string[]> {
  return withExclusiveRun(db, async () => {
    const replaced = await db.sql<{ name: string }[]>`
      select relname as name from pg_class
      where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname like '%\\_unpartitioned'
      order by 1`;
    const names = replaced.map(({ name }) => name);
    if (names.length > 0) {
      await repeatWhileLocked(() =>
        db.transaction(async (tx) => {
          await tx.unsafe(`set local statement_timeout = ${lockTimeoutMs}`);
          // Also drops the views with the former names of the tables, which only version 1.0 uses.
          await tx.unsafe(`drop table ${quoteIdentifiers(names)} cascade`);
          await tx`drop table if exists partitioning_progress`;
        }),
      );
    }
    return names;
  });
}

/** Runs `work` while no other process partitions tables of the schema. Waits for such a process. */
async function withExclusiveRun<T>(db: Database, work: () => Promise<T>): Promise<T> {
  const key = computeAdvisoryLockKey(db.schema, "partition tables");
  const connection = await db.sql.reserve();
  try {
    await connection`select pg_advisory_lock(${key}::bigint)`;
    try {
      return await work();
    } finally {
      await connection`select pg_advisory_unlock(${key}::bigint)`;
    }
  } finally {
    connection.release();
  }
}

const targetBatchMs = 250;

async function copyTable(
  db: Database,
  table: UnpartitionedTable,
  { maxBatchRows, onStep }: Required<PartitioningOptions>,
): Promise<void> {
  let progress: CopyProgress = await findCopyProgress(db.sql, table);
  let limit = Math.min(100, maxBatchRows);
  for (let failures = 0; !progress.isCopied; ) {
    const startedMs = performance.now();
    try {
      progress = await copyBatch(db, table, progress, limit);
      failures = 0;
    } catch (error) {
      failures += 1;
      if (failures === maxLockAttempts || !isTransient(error)) throw error;
      // A smaller batch has fewer rows that a writer may have locked.
      limit = Math.ceil(limit / 4);
      await sleep(20 + Math.random() * 100);
      continue;
    }
    // Large rows are copied in smaller batches, because writers wait for the locks of a batch.
    const isSlow = performance.now() - startedMs > targetBatchMs;
    limit = isSlow ? Math.ceil(limit / 2) : Math.min(limit * 2, maxBatchRows);
    onStep({ step: "copying", table: table.name, rowCount: progress.rowCount });
  }
  onStep({ step: "copied", table: table.name, rowCount: progress.rowCount });
}

async function verifyTable(
  db: Database,
  table: UnpartitionedTable,
  onStep: PartitioningOptions["onStep"],
): Promise<void> {
  // Autovacuum analyzes partitions, but not the partitioned table, and not soon enough for the next statements.
  await db.sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    await tx.unsafe(`analyze ${quoteIdentifier(table.target)}`);
  });
  try {
    await verifyCopy(db, table, (rowCount) => onStep({ step: "verifying", table: table.name, rowCount }));
  } catch (error) {
    if (!isTransient(error)) await resetCopyProgress(db.sql, table);
    throw error;
  }
  onStep({ step: "verified", table: table.name });
}

async function replaceTables(tx: SqlTransaction, tables: UnpartitionedTable[]): Promise<void> {
  await lockTables(tx, tables, "access exclusive");
  const [running] = await tx<[{ isPrevious: boolean }]>`select is_version_1_0_connected() as is_previous`;
  if (running.isPrevious) {
    throw new Error("Processes of version 1.0 are connected. They cannot use partitioned tables: upgrade them first.");
  }
  await tx`select swap_partitioned_tables(${tables.map(({ name }) => name)}::text[])`;
  for (const table of tables) {
    const trigger = quoteIdentifier(mirrorTriggerName(table));
    await tx.unsafe(`drop trigger ${trigger} on ${quoteIdentifier(`${table.name}_unpartitioned`)}`);
    await tx.unsafe(`drop function ${trigger}()`);
  }
}

/**
 * Drops the foreign keys of replaced tables to other tables. A replaced table does not change any more, so it must not
 * prevent the deletion of rows to which its rows refer. This is not part of the replacement, because statements lock the
 * referenced tables first, and would wait for the replaced ones.
 */
async function dropForeignKeysOfReplacedTables(db: Database): Promise<void> {
  const foreignKeys = await db.sql<{ table: string; referenced: string; name: string }[]>`
    select referencing.relname as table, referenced.relname as referenced, conname as name
    from pg_constraint
    join pg_class referencing on referencing.oid = conrelid join pg_class referenced on referenced.oid = confrelid
    where contype = 'f' and referencing.relnamespace = current_schema()::regnamespace
      and referencing.relname like '%\\_unpartitioned' and referenced.relname not like '%\\_unpartitioned'`;
  for (const { table, referenced, name } of foreignKeys) {
    await repeatWhileLocked(() =>
      db.transaction(async (tx) => {
        await tx.unsafe(`set local statement_timeout = ${lockTimeoutMs}`);
        await tx.unsafe(`lock table ${quoteIdentifier(referenced)} in access exclusive mode`);
        await tx.unsafe(`alter table ${quoteIdentifier(table)} drop constraint ${quoteIdentifier(name)}`);
      }),
    );
  }
}

/** Maximum time, in milliseconds, to wait for the locks of all tables. All later statements on the tables wait, too. */
const lockTimeoutMs = 1_000;

/**
 * Locks tables, or fails after `lockTimeoutMs`. Locks referenced tables first, because transactions write to them first
 * and would otherwise wait for a lock of this transaction while it waits for theirs.
 */
async function lockTables(tx: SqlTransaction, tables: UnpartitionedTable[], mode: string): Promise<void> {
  const isReferenced = ({ name }: UnpartitionedTable) =>
    tables.some(({ references }) => references.some(({ table }) => table.name === name));
  const sorted = [...tables.filter(isReferenced), ...tables.filter((table) => !isReferenced(table)).reverse()];
  await tx.unsafe(`set local statement_timeout = ${lockTimeoutMs}`);
  await tx.unsafe(`lock table ${quoteIdentifiers(sorted.map(({ name }) => name))} in ${mode} mode`);
  await tx.unsafe(`set local statement_timeout = '${statementTimeoutSeconds}s'`);
}

const maxLockAttempts = 200;

/** Repeats `work` after errors such as a lock timeout or a deadlock. */
async function repeatWhileLocked<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === maxLockAttempts || !isTransient(error)) throw error;
      // Longer than the lock timeout, so that the statements that waited for the lock can finish first.
      await sleep(500 + Math.random() * 1_000);
    }
  }
}
