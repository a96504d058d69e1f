import postgres from "postgres";
import type { Logger } from "../observability/logger.ts";
import { listPartitionNames } from "./partitions.ts";
import type { SqlClient } from "./postgres.ts";

const outsideTransactionMarker = "-- outside a transaction";

/** A statement of a migration that runs outside a transaction. Each can be repeated after an interruption. */
type RepeatableStatement =
  | { kind: "create index"; unique: string; index: string; table: string; definition: string }
  | { kind: "drop index"; index: string }
  | { kind: "change in batches"; text: string };

const createIndex = /^create (unique )?index concurrently if not exists (\w+) on (\w+)\s*(\(.+|using .+)$/is;
const dropIndex = /^drop index concurrently if exists (\w+)$/i;
const changeInBatches = /^(?:update|delete)\b.*\blimit \d+\b/is;

const undefinedTable = "42P01";

export function runsOutsideTransaction(migration: string): boolean {
  return migration.split("\n", 1)[0]?.trim() === outsideTransactionMarker;
}

/** Returns the statements of such a migration. @throws `Error` if one cannot be repeated after an interruption. */
export function parseRepeatableStatements(migration: string): RepeatableStatement[] {
  const withoutComments = migration.replace(/('(?:[^']|'')*')|--.*$/gm, (_, text = "") => text);
  const statements = withoutComments.match(/(?:'(?:[^']|'')*'|[^;'])+/g) ?? [];
  return statements.flatMap((untrimmed): RepeatableStatement[] => {
    const text = untrimmed.trim();
    if (text === "") return [];
    const [, unique = "", index, table, definition] = createIndex.exec(text) ?? [];
    if (index && table && definition) return [{ kind: "create index", unique, index, table, definition }];
    const [, droppedIndex] = dropIndex.exec(text) ?? [];
    if (droppedIndex) return [{ kind: "drop index", index: droppedIndex }];
    if (changeInBatches.test(text)) return [{ kind: "change in batches", text }];
    throw new Error(`A migration outside a transaction cannot contain this statement, see MIGRATIONS.md: ${text}`);
  });
}

/**
 * Runs a migration whose first line is the marker. After an interruption, it can run again.
 * - An index of a partitioned table is created on one partition after the other, and then on the table.
 * - An update or delete is repeated until it changes no row.
 */
export async function migrateOutsideTransaction(connection: SqlClient, migration: string, log: Logger): Promise<void> {
  for (const statement of parseRepeatableStatements(migration)) {
    if (statement.kind === "create index") {
      await createIndexConcurrently(statement);
    } else if (statement.kind === "drop index") {
      await dropIndexIfExists(statement.index);
    } else {
      for (let changedRows = 0; ; log.info({ changedRows }, "migrating rows in batches")) {
        const { count } = await connection.unsafe(statement.text);
        if (count === 0) break;
        changedRows += count;
      }
    }
  }

  /** Returns the kind of a table or index in the service's schema, as in `pg_class`; nothing if there is none. */
  async function findRelationKind(name: string): Promise<string | undefined> {
    const [relation] = await connection<{ relkind: string }[]>`
      select relkind from pg_class where relname = ${name} and relnamespace = current_schema()::regnamespace`;
    return relation?.relkind;
  }

  async function dropIndexIfExists(index: string): Promise<void> {
    const kind = await findRelationKind(index);
    // PostgreSQL cannot drop an index of a partitioned table concurrently.
    if (kind === "I") await connection`drop index ${connection(index)}`;
    else if (kind) await connection`drop index concurrently ${connection(index)}`;
  }

  async function createIndexConcurrently(
    statement: Extract<RepeatableStatement, { kind: "create index" }>,
  ): Promise<void> {
    const { unique, index, table, definition } = statement;
    if ((await findRelationKind(table)) === "p") {
      // PostgreSQL cannot create it concurrently, but adopts the indexes of the partitions without building them again.
      for (const partition of await listPartitionNames(connection, table)) {
        const suffix = partition.replace(`${table}_`, "");
        await createIndexConcurrently({ ...statement, table: partition, index: `${index}_${suffix}` }).catch(
          (error) => {
            // Partitions of old days are dropped at any time.
            if (!(error instanceof postgres.PostgresError && error.code === undefinedTable)) throw error;
          },
        );
      }
      await connection.unsafe(`create ${unique}index if not exists ${index} on ${table} ${definition}`);
      return;
    }
    const [existing] = await connection<{ isValid: boolean }[]>`
      select indisvalid as is_valid from pg_index where indexrelid = to_regclass(${index})`;
    if (existing?.isValid) return;
    if (existing) {
      log.warn({ index }, "dropping the invalid index of an interrupted migration");
      await dropIndexIfExists(index);
    }
    log.info({ index, table }, "creating an index");
    await connection.unsafe(`create ${unique}index concurrently ${index} on ${table} ${definition}`);
  }
}
