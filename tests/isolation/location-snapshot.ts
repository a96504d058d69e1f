import { createHash } from "node:crypto";
import type postgres from "postgres";
import type { ContractFixture } from "../contract/contract-fixture.ts";
import { victimReadPaths } from "./victim-data.ts";

/**
 * Everything that a location has, to be compared: the replies that it gets, to the byte, and a hash of its rows in every
 * table. When its keys were last used is left out: it reads with one.
 */
export async function snapshotLocationData(
  world: ContractFixture,
  { sql, namespace }: { sql: postgres.Sql; namespace: string },
): Promise<Record<string, string>> {
  const footprint: Record<string, string> = {};
  for (const address of victimReadPaths(world)) {
    const answer = await world.shop.request("GET", `${address}size=100`);
    footprint[address] = `${answer.status} ${(await answer.text()).replaceAll(/"lastUsedAt":("[^"]+"|null)/g, "")}`;
  }
  const tables = await sql<{ schema: string; name: string; column: string }[]>`
    select table_schema as schema, table_name as name, column_name as column from information_schema.columns
    where starts_with(table_schema, ${`${namespace}_`}) and (column_name = 'location_id' or (table_name, column_name) = ('locations', 'id'))
    order by 1, 2`;
  for (const { schema, name, column } of tables) {
    const rows = await sql<{ row: string }[]>`
      select (to_jsonb(each) - 'last_used_at')::text as row from ${sql(schema)}.${sql(name)} as each
      where ${sql(column)} = ${world.shop.locationId} order by 1`;
    const hash = createHash("sha256").update(rows.map(({ row }) => row).join("\n"));
    footprint[`${schema}.${name}`] = `${rows.length} rows, ${hash.digest("hex")}`;
  }
  return footprint;
}
