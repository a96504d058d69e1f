import type { SqlClient, SqlTransaction } from "./postgres.ts";

/** Returns the names of a table's partitions, or the table itself if it has none, as tables that Citus distributes. */
export async function listPartitionNames(sql: SqlClient | SqlTransaction, table: string): Promise<string[]> {
  const partitions = await sql<{ name: string }[]>`
    select relid::regclass::text as name from pg_partition_tree(${table}::regclass) where isleaf order by 1`;
  return partitions.length === 0 ? [table] : partitions.map(({ name }) => name);
}
