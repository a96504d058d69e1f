import type { SqlTransaction } from "../postgres.ts";
import { quoteIdentifier as quote, quoteIdentifiers as quoteAll } from "./quote-identifier.ts";
import type { UnpartitionedTable } from "./unpartitioned-tables.ts";

/** Returns the name of the trigger that mirrors the changes of a table, and of its function. */
export function mirrorTriggerName({ name }: UnpartitionedTable): string {
  return `mirror_${name}`;
}

/**
 * Creates a trigger that applies each change of a table to its target, in the same transaction. The target of a
 * referenced table may not have the referenced row yet, so the trigger also copies that row.
 */
export async function mirrorChanges(tx: SqlTransaction, table: UnpartitionedTable): Promise<void> {
  const [row] = await tx<[{ schema: string }]>`select current_schema() as schema`;
  const qualified = (name: string) => `${quote(row.schema)}.${quote(name)}`;
  const { name, target, columns, targetKey, references } = table;
  const trigger = mirrorTriggerName(table);
  const matchesOldKey = targetKey.map((column) => `${quote(column)} = old.${quote(column)}`).join(" and ");
  const otherColumns = columns.filter((column) => !targetKey.includes(column));
  const onConflict =
    otherColumns.length === 0
      ? "do nothing"
      : `do update set ${otherColumns.map((column) => `${quote(column)} = excluded.${quote(column)}`).join(", ")}`;
  const copyReferencedRows = references.map(({ table: referenced, columns: pairs }) => {
    const matches = pairs.map((pair) => `${quote(pair.referenced)} = new.${quote(pair.referencing)}`);
    return `insert into ${qualified(referenced.target)} (${quoteAll(referenced.columns)})
      select ${quoteAll(referenced.columns)} from ${qualified(referenced.name)} where ${matches.join(" and ")}
      on conflict (${quoteAll(referenced.targetKey)}) do nothing;`;
  });
  await tx.unsafe(`
    create or replace function ${qualified(trigger)}() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' or (tg_op = 'UPDATE' and (${quoteAll(targetKey, "old.")}) is distinct from (${quoteAll(targetKey, "new.")})) then
        delete from ${qualified(target)} where ${matchesOldKey};
      end if;
      if tg_op = 'DELETE' then return null; end if;
      ${copyReferencedRows.join("\n      ")}
      insert into ${qualified(target)} (${quoteAll(columns)}) values (${quoteAll(columns, "new.")})
      on conflict (${quoteAll(targetKey)}) ${onConflict};
      return null;
    end
    $$`);
  await tx.unsafe(`
    create or replace trigger ${quote(trigger)} after insert or update or delete on ${qualified(name)}
    for each row execute function ${qualified(trigger)}()`);
}
