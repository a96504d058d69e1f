import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import postgres from "postgres";
import { InvalidArchiveError } from "./location-archive.ts";
import type { LocationTable } from "./location-tables.ts";

type Sql = SqlClient | SqlTransaction;

/** How a row that causes work is stored until the end of an import. */
interface HeldRows {
  /** Returns whether a row would cause work: a delivery, a job, a calculation. */
  isHeld(row: Record<string, unknown>): boolean;
  /** The values that the row has until the end of the import. Without them, the row is stored at the end. */
  until?: Record<string, unknown>;
  /** Other values that the row has from the end of the import on. */
  finally?: Record<string, unknown>;
}

/** The tables whose rows can cause work. */
const heldRows: Record<string, HeldRows> = {
  "webhooks.webhooks": { isHeld: ({ state }) => state === "active", until: { state: "paused" } },
  "webhooks.webhook_deliveries": { isHeld: ({ state }) => state === "pending" || state === "sending" },
  "webhooks.delivery_recoveries": { isHeld: (row) => row.finished_at === null },
  "jobs.location_jobs": {
    isHeld: (row) => row.finished_at === null,
    // The queue and the lease are those of the other installation.
    finally: { queued_at: null, lease_expires_at: null, lease_id: null },
  },
  "reporting.accounting_exports": {
    isHeld: ({ state }) => state === "pending" || state === "running",
    until: { claimed_until: "infinity" },
    finally: { claimed_until: null },
  },
  "till-ingest.tills": {
    isHeld: (row) => row.next_requeue_at !== null,
    until: { next_requeue_at: null, next_sweep_at: null },
  },
  "till-ingest.till_reprocessings": { isHeld: (row) => row.finished_at === null },
};

/** Returns functions that store rows of a table, given as JSON. Rows whose key exists are not stored again. */
export function createRowImporter(sql: Sql, part: string) {
  const table = part.slice(part.indexOf(".") + 1);
  const held = heldRows[part];
  const isHeldRow = (row: string) => held?.isHeld(JSON.parse(row)) ?? false;
  return {
    /** Stores rows so that they cause no work. Returns the number of new rows, including rows that are stored later. */
    async insertWithoutWork(rows: string[]): Promise<number> {
      const inert = rows.flatMap((row) => {
        if (!isHeldRow(row)) return [row];
        return held?.until ? [withValues(row, held.until)] : [];
      });
      return (await insertRows(sql, table, inert)) + rows.length - inert.length;
    },
    /** Stores rows that cause work, and ignores other rows. */
    async insertHeldRows(rows: string[]): Promise<void> {
      const working = rows.filter(isHeldRow).map((row) => withValues(row, held?.finally ?? {}));
      if (!held || working.length === 0) return;
      if (held.until) await updateColumns(sql, table, { rows: working, columns: Object.keys(held.until) });
      else await insertRows(sql, table, working);
    },
  };
}

/** Returns a row, as JSON, with other values. Of repeated names, PostgreSQL uses the last. Numbers keep all digits. */
export const withValues = (row: string, values: Record<string, unknown>) =>
  Object.entries(values).reduce(
    (text, [name, value]) =>
      `${text.slice(0, text.lastIndexOf("}"))},${JSON.stringify(name)}:${JSON.stringify(value)}}`,
    row,
  );

/** Returns a row with the values of its columns that do not come from the archive. */
export function completeArchivedRow(part: string, row: string, locationId: string): string {
  // Rows lack the location in an installation that was upgraded from version 1.0 a moment ago.
  if (part === "till-ingest.till_versions") return withValues(row, { location_id: locationId });
  // Positions in the feed of all locations are assigned once the location exists in all services.
  if (part === "webhooks.change_positions") return withValues(row, { is_in_all_changes: false });
  return row;
}

const toArray = (rows: string[]) => `[${rows.join(",")}]`;
const quote = (name: string) => `"${name}"`;

/** Inserts rows, unless their key exists, and returns the number of new rows. */
export async function insertRows(sql: Sql, table: string, rows: string[]): Promise<number> {
  if (rows.length === 0) return 0;
  const columns = await sql<{ name: string }[]>`
    select attname as name from pg_attribute
    where attrelid = ${quote(table)}::regclass and attnum > 0 and not attisdropped and attgenerated = ''`;
  const names = columns.map(({ name }) => quote(name)).join(", ");
  const inserted = await sql.unsafe(
    `insert into ${quote(table)} (${names})
    select ${names} from jsonb_populate_recordset(null::${quote(table)}, $1::text::jsonb) on conflict do nothing`,
    [toArray(rows)],
  );
  return inserted.count;
}

async function updateColumns(
  sql: Sql,
  table: string,
  { rows, columns }: { rows: string[]; columns: string[] },
): Promise<void> {
  const [key = []] = await listUniqueKeys(sql, table);
  await sql.unsafe(
    `update ${quote(table)} t set ${columns.map((column) => `${quote(column)} = r.${quote(column)}`).join(", ")}
    from jsonb_populate_recordset(null::${quote(table)}, $1::text::jsonb) r
    where ${key.map((column) => `t.${quote(column)} = r.${quote(column)}`).join(" and ")}`,
    [toArray(rows)],
  );
}

/** Returns the columns of the unique keys of a table, of the primary key first. Leaves out keys with expressions. */
async function listUniqueKeys(sql: Sql, table: string): Promise<string[][]> {
  const keys = await sql<{ columns: string[] }[]>`
    select array(
      select attname::text from unnest(indkey) with ordinality as part (number, position)
      join pg_attribute on attrelid = indrelid and attnum = number order by position
    ) as columns
    from pg_index where indrelid = ${quote(table)}::regclass and indisunique and indexprs is null
    order by indisprimary desc`;
  return keys.map(({ columns }) => columns);
}

/** The classes of SQLSTATE codes for values that a table cannot store. */
const invalidValueCode = /^(22|23|54)/;

/** Checks that a table can store these rows, without storing them. @throws `InvalidArchiveError` */
export async function requireStorableRows(
  sql: SqlClient,
  { service, table, rows }: { service: string; table: string; rows: string[] },
): Promise<void> {
  const fail = (reason: string, cause?: unknown): never => {
    throw new InvalidArchiveError(`A row of ${service}.${table} in the archive cannot be stored: ${reason}.`, {
      cause,
    });
  };
  const checks = await sql<{ name: string; expression: string }[]>`
    select conname as name, pg_get_expr(conbin, conrelid) as expression from pg_constraint
    where conrelid = ${quote(table)}::regclass and contype = 'c'`;
  const generated = await sql<{ name: string; expression: string }[]>`
    select attname as name, pg_get_expr(adbin, adrelid) as expression from pg_attribute
    join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attrelid = ${quote(table)}::regclass and attgenerated <> ''`;
  const failed = [
    ...checks.map(({ name, expression }) => `case when (${expression}) is false then '${name}' end`),
    ...generated.map(
      ({ name, expression }) => `case when (${expression}) is distinct from "${name}" then '${name}' end`,
    ),
  ];
  try {
    const [row] = await sql.unsafe<{ name: string | null }[]>(
      `select max(coalesce(${[...failed, "null"].join(", ")})) as name
      from jsonb_populate_recordset(null::${quote(table)}, $1::text::jsonb)`,
      [toArray(rows)],
    );
    if (row?.name) fail(`it does not conform to ${row.name}`);
  } catch (error) {
    if (!(error instanceof postgres.PostgresError) || !invalidValueCode.test(error.code)) throw error;
    fail("a value does not have the type of its column", error);
  }
}

interface RowSet {
  table: string;
  rows: string[];
}

/**
 * Returns the description of a unique key that an existing row shares with one of these rows, or undefined. Keys with the
 * location are left out, because rows of other locations cannot share them.
 */
export async function findRowWithSameKey(sql: Sql, { table, rows }: RowSet): Promise<string | undefined> {
  for (const key of await listUniqueKeys(sql, table)) {
    if (key.includes("location_id")) continue;
    const columns = key.map(quote).join(", ");
    const [found] = await sql.unsafe<{ key: string }[]>(
      `select concat_ws(', ', ${columns}) as key from ${quote(table)} where (${columns}) in (
        select ${columns} from jsonb_populate_recordset(null::${quote(table)}, $1::text::jsonb)
      ) limit 1`,
      [toArray(rows)],
    );
    if (found) return `the same ${key.join(", ")} (${found.key})`;
  }
}

/** Returns whether another location has a row with a unique key of one of these rows. */
export async function isKeyOfOtherLocation(
  sql: Sql,
  { table, rows, locationId }: RowSet & { locationId: string },
): Promise<boolean> {
  const [column] = await sql`
    select from pg_attribute where attrelid = ${quote(table)}::regclass and attname = 'location_id' and not attisdropped`;
  if (!column) return false;
  // Locations cannot share keys that contain the location.
  const keys = (await listUniqueKeys(sql, table)).filter((key) => !key.includes("location_id"));
  for (const key of keys) {
    const columns = key.map(quote).join(", ");
    const found = await sql.unsafe(
      `select 1 from ${quote(table)} where location_id is distinct from $2 and (${columns}) in (
        select ${columns} from jsonb_populate_recordset(null::${quote(table)}, $1::text::jsonb)
      ) limit 1`,
      [toArray(rows), locationId],
    );
    if (found.length > 0) return true;
  }
  return false;
}

const deleteBatchRows = 1_000;

/** Deletes the rows of a location from a table in batches. Calls `onBatch` with the number of deleted rows of each. */
export async function deleteLocationRows(
  sql: SqlClient,
  { name, condition }: LocationTable,
  { locationId, onBatch }: { locationId: string; onBatch: (rows: number) => void },
): Promise<void> {
  const [key = []] = await listUniqueKeys(sql, name);
  const columns = key.map(quote).join(", ");
  const batch = `select ${columns} from ${quote(name)} where ${condition} limit ${deleteBatchRows}`;
  const statement = `delete from ${quote(name)} where (${columns}) in (${batch})`;
  for (;;) {
    const { count } = await sql.unsafe(statement, [locationId]);
    if (count > 0) onBatch(count);
    if (count < deleteBatchRows) return;
  }
}
