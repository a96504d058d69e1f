import type { Database } from "../postgres.ts";
import { buildKeysetClauses, buildLastKeyExpression } from "./copy-rows.ts";
import { quoteIdentifier, quoteIdentifiers } from "./quote-identifier.ts";
import type { UnpartitionedTable } from "./unpartitioned-tables.ts";

const batchRows = 2_000;

/**
 * Compares all rows of a table with their copies, and the numbers of rows of each location. Each statement compares one
 * snapshot of both tables, so concurrent changes cause no difference. Calls `onProgress` after each batch.
 *
 * @throws `Error` when a row is missing in the target, differs there, or exists only there.
 */
export async function verifyCopy(
  { sql }: Database,
  table: UnpartitionedTable,
  onProgress: (rowCount: number) => void,
): Promise<void> {
  const columns = quoteIdentifiers(table.columns);
  const matches = table.targetKey.map((name) => `copy.${quoteIdentifier(name)} = batch.${quoteIdentifier(name)}`);
  let rowCount = 0;
  for (let lastKey: string[] | null = null; ; ) {
    // Rows are compared as texts, because types such as json have no equality.
    const [compared]: { rowCount: number; differentCount: number; lastKey: string[] | null }[] = await sql.unsafe(
      `with batch as materialized (
        select ${columns} ${buildKeysetClauses(table)}
      ), compared as (
        select count(*) as row_count, count(*) filter (
          where row(${quoteIdentifiers(table.columns, "batch.")})::text
            is distinct from row(${quoteIdentifiers(table.columns, "copy.")})::text
        ) as different_count
        from batch left join ${quoteIdentifier(table.target)} copy on ${matches.join(" and ")}
      )
      select row_count, different_count, ${buildLastKeyExpression(table, "batch")} as last_key from compared`,
      [lastKey, batchRows],
    );
    if (!compared || compared.lastKey === null) break;
    if (compared.differentCount > 0) {
      throw new Error(
        `${compared.differentCount} rows of ${table.name} up to key ${compared.lastKey} have no equal copy.`,
      );
    }
    lastKey = compared.lastKey;
    rowCount += compared.rowCount;
    onProgress(rowCount);
  }
  await compareRowCounts(sql, table);
}

/** @throws `Error` when a location has different numbers of rows in the table and in the target. */
async function compareRowCounts(sql: Database["sql"], { name, target, targetKey }: UnpartitionedTable): Promise<void> {
  const location = quoteIdentifier(targetKey[0] ?? "");
  const countRows = (table: string) =>
    `(select ${location} as location, count(*) as count from ${quoteIdentifier(table)} group by 1)`;
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    const different = await tx.unsafe<{ location: string }[]>(
      `select coalesce(source.location, copy.location) as location
       from ${countRows(name)} source full join ${countRows(target)} copy using (location)
       where source.count is distinct from copy.count limit 10`,
    );
    if (different.length === 0) return;
    const locations = different.map((row) => row.location).join(", ");
    throw new Error(`${name} and ${target} have different numbers of rows of the locations ${locations}.`);
  });
}
