import { listPartitionNames } from "@pragma/runtime/database/partitions";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";

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
