import type { SqlClient } from "../postgres.ts";

/** A table that a migration prepared to be replaced by the partitioned table `<name>_partitioned`. */
export interface UnpartitionedTable {
  name: string;
  /**
   * The name of the empty or incomplete table that replaces it. It has other keys, and usually partitions.
   */
  target: string;
  columns: string[];
  /** The columns of the table's primary key. Rows are copied in the sequence of this key. */
  key: TypedColumn[];
  /** The columns of the target's primary key, which begins with the location. */
  targetKey: string[];
  /** The tables that the target's foreign keys reference, with the pairs of referencing and referenced columns. */
  references: { table: UnpartitionedTable; columns: ReferenceColumns[] }[];
}

interface ReferenceColumns {
  referencing: string;
  referenced: string;
}

interface UnpartitionedTableRow extends Omit<UnpartitionedTable, "references"> {
  targetColumns: string[];
  references: { name: string; columns: ReferenceColumns[] }[];
}

export interface TypedColumn {
  name: string;
  type: string;
}

/**
 * Returns the tables of the schema that can be partitioned. A table follows the tables that it references.
 *
 * @throws `Error` when a table and its target do not have the same columns.
 */
export async function findUnpartitionedTables(sql: SqlClient): Promise<UnpartitionedTable[]> {
  const rows = await sql<UnpartitionedTableRow[]>`
    with pair as (
      select source.oid as source, target.oid as target, source.relname as name, target.relname as target_name
      from pg_class source join pg_class target
        on target.relnamespace = source.relnamespace and target.relname = source.relname || '_partitioned'
      where source.relnamespace = current_schema()::regnamespace and source.relkind = 'r' and target.relkind in ('r', 'p')
    )
    select name, target_name as target, (
      select array_agg(attname::text order by attname) from pg_attribute
      where attrelid = source and attnum > 0 and not attisdropped
    ) as columns, (
      select array_agg(attname::text order by attname) from pg_attribute
      where attrelid = target and attnum > 0 and not attisdropped
    ) as target_columns, (
      select json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod)) order by position)
      from pg_constraint, unnest(conkey) with ordinality as key (number, position), pg_attribute
      where conrelid = source and contype = 'p' and attrelid = source and attnum = key.number
    ) as key, (
      select array_agg(attname::text order by position)
      from pg_constraint, unnest(conkey) with ordinality as key (number, position), pg_attribute
      where conrelid = target and contype = 'p' and attrelid = target and attnum = key.number
    ) as target_key, (
      select coalesce(json_agg(json_build_object('name', referenced.name, 'columns', (
        select json_agg(json_build_object('referencing', one.attname, 'referenced', other.attname))
        from unnest(conkey, confkey) as key (one, other)
        join pg_attribute one on one.attrelid = conrelid and one.attnum = key.one
        join pg_attribute other on other.attrelid = confrelid and other.attnum = key.other
      ))), '[]')
      -- A foreign key to a partitioned table also has a constraint for each of its partitions.
      from pg_constraint foreign_key join pair referenced on referenced.target = foreign_key.confrelid
      where foreign_key.conrelid = pair.target and contype = 'f'
    ) as references
    from pair order by name`;
  for (const { name, columns, targetColumns } of rows) {
    if (`${columns}` !== `${targetColumns}`)
      throw new Error(`${name} has the columns ${columns}, but ${name}_partitioned has the columns ${targetColumns}.`);
  }
  return sortByReferences(rows);
}

function sortByReferences(rows: UnpartitionedTableRow[]): UnpartitionedTable[] {
  const sorted = new Map<string, UnpartitionedTable>();
  while (sorted.size < rows.length) {
    const next = rows.find(
      ({ name, references }) => !sorted.has(name) && references.every((to) => sorted.has(to.name)),
    );
    if (!next) throw new Error("The foreign keys of the partitioned tables form a cycle.");
    const references = next.references.flatMap(({ name, columns }) => {
      const table = sorted.get(name);
      return table ? [{ table, columns }] : [];
    });
    sorted.set(next.name, { ...next, references });
  }
  return [...sorted.values()];
}
