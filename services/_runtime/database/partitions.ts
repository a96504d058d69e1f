import type { SqlClient } from "./postgres.ts";

/**
 * Returns the names of a table's partitions, or the name of the table if it is not partitioned. Periodic tasks that
 * search all locations read one of these tables at a time.
 */
export async function listPartitionNames(sql: SqlClient, table: string): Promise<string[]> {
  const partitions = await sql<{ name: string }[]>`
    select relid::regclass::text as name from pg_partition_tree(${table}::regclass) where isleaf order by 1`;
  return partitions.map(({ name }) => name);
}
