import type { ServiceName } from "@pragma/contracts/service-names";
import type postgres from "postgres";
import { omittedTables } from "./location-manifest.ts";
import {
  importSequence,
  isReplacedOrUnfilledTable,
  listLocationTables,
  listReferences,
  type TableReference,
} from "./location-tables.ts";

/** A table of which an archive can contain rows. */
export interface ArchivedTable {
  service: ServiceName;
  name: string;
  /** The names of all columns, which each archived row has. */
  columns: string[];
  /** The names of the columns that are never null. */
  requiredColumns: string[];
  /** The references of its rows to rows of other tables of the archive. */
  references: Omit<TableReference, "from">[];
}

/** Where the tables of a service are. */
interface ServiceTables {
  sql: postgres.Sql;
  schema: string;
}

/** Returns the tables of which an archive can contain rows, by the part of the archive. */
export async function readArchivedTables(databases: {
  of(service: ServiceName): ServiceTables;
}): Promise<Map<string, ArchivedTable>> {
  const tables = new Map<string, ArchivedTable>();
  for (const service of importSequence) {
    const { sql, schema } = databases.of(service);
    const names = (await listLocationTables(sql, { name: service, schema }))
      .map(({ name }) => name)
      .filter((name) => !omittedTables.has(name) && !isReplacedOrUnfilledTable(name));
    const references = (await listReferences(sql, schema)).filter(({ to }) => names.includes(to));
    for (const name of names)
      tables.set(`${service}.${name}`, {
        ...{ service, name, ...(await readColumns({ sql, schema }, name)) },
        references: references.filter(({ from }) => from === name),
      });
  }
  return tables;
}

async function readColumns({ sql, schema }: ServiceTables, name: string) {
  const columns = await sql<{ name: string; isRequired: boolean }[]>`
    select attname as name, attnotnull as "isRequired" from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = to_regnamespace(${schema}) and relname = ${name} and attnum > 0 and not attisdropped`;
  return {
    columns: columns.map((column) => column.name),
    requiredColumns: columns.filter(({ isRequired }) => isRequired).map((column) => column.name),
  };
}
