import type { SqlClient, SqlTransaction } from "./postgres.ts";

/**
 * Returns the names of a table's partitions, or the name of the table if it has none, as tables that Citus distributes.
 * Periodic tasks that search all locations read one partition at a time.
 */
export async function listPartitionNames(sql: SqlClient | SqlTransaction, table: string): Promise<string[]> {
  const partitions = await sql<{ name: string }[]>`
    select relid::regclass::text as name from pg_partition_tree(${table}::regclass) where isleaf order by 1`;
  return partitions.length === 0 ? [table] : partitions.map(({ name }) => name);
}
