import { createHash } from "node:crypto";
import type postgres from "postgres";
import type { ContractTestFixture } from "../contract/contract-fixture.ts";
import { listIsolationVictimReadPaths } from "./victim-data.ts";

/**
 * Returns the data of a location, so that two snapshots can be compared. The data consists of the responses to reads of
 * the location and a hash of the location's rows in each table. The time at which an API key was last used and the usage
 * of API keys are omitted, because the reads change them, and events of e-reports, because a task publishes them later.
 */
export async function snapshotLocationData(
  fixture: ContractTestFixture,
  { sql, namespace }: { sql: postgres.Sql; namespace: string },
): Promise<Record<string, string>> {
  const snapshot: Record<string, string> = {};
  for (const path of listIsolationVictimReadPaths(fixture)) {
    const response = await fixture.testLocation.request("GET", `${path}size=100`);
    snapshot[path] = `${response.status} ${(await response.text()).replaceAll(/"lastUsedAt":("[^"]+"|null)/g, "")}`;
  }
  const tables = await sql<{ schema: string; name: string; column: string }[]>`
    select table_schema as schema, table_name as name, column_name as column from information_schema.columns
    where starts_with(table_schema, ${`${namespace}_`}) and (column_name = 'location_id' or (table_name, column_name) = ('locations', 'id'))
      and table_name not in ('request_counts_by_minute', 'request_counts_by_day', 'failed_requests', 'e_changed_days')
    order by 1, 2`;
  for (const { schema, name, column } of tables) {
    const rows = await sql<{ row: string }[]>`
      select (to_jsonb(each) - 'last_used_at')::text as row from ${sql(schema)}.${sql(name)} as each
      where ${sql(column)} = ${fixture.testLocation.locationId}
        and coalesce(to_jsonb(each)->>'type', '') not like 'e_report.%' order by 1`;
    const hash = createHash("sha256").update(rows.map(({ row }) => row).join("\n"));
    snapshot[`${schema}.${name}`] = `${rows.length} rows, ${hash.digest("hex")}`;
  }
  return snapshot;
}
