import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceName } from "@pragma/contracts/service-names";
import type { SqlClient } from "@pragma/runtime/database/postgres";
import { retryTransient } from "@pragma/runtime/retries/transient-error";
import { type LocationTable, listLocationTables, removalSequence } from "./location-tables.ts";
import { keptEventTypes, type RemovalContext } from "./removal-receipt.ts";

const deleteBatchRows = 1_000;
const maxPasses = 10;
const passIntervalMs = 1_000;
const retryTimeoutMs = 120_000;

/** Deletes all rows of the location, of tables before the tables to which their rows refer. */
export async function removeRowsUntilNoneIsLeft(context: RemovalContext): Promise<void> {
  for (let pass = 1; (await removeRows(context)) > 0; pass++) {
    if (pass === maxPasses) throw new Error("New rows of the location appear again and again. Run the command again.");
    await sleep(passIntervalMs);
  }
}

/** Returns the number of deleted rows. */
async function removeRows(context: RemovalContext): Promise<number> {
  const { databases, locationId, log } = context;
  let total = 0;
  for (const service of removalSequence) {
    const { sql, schema } = databases.of(service);
    const tables = await listLocationTables(sql, { name: service, schema });
    for (const table of tables.reverse().map((each) => toRemovableRows(service, each))) {
      const deleteBatches = () =>
        deleteLocationRows(sql, table, {
          locationId,
          onBatch(rows) {
            total += rows;
            log(`${service}.${table.name} ${rows}`);
          },
        });
      await retryTransient(deleteBatches, AbortSignal.timeout(retryTimeoutMs));
    }
    // The owners of stored responses begin with the id of the location of the key that sent the request.
    await sql`
      delete from idempotent_requests where starts_with(owner, ${`${locationId} `}) or location_id = ${locationId}`;
  }
  return total;
}

/** Returns a table with the condition on the rows to delete. */
function toRemovableRows(service: ServiceName, table: LocationTable): LocationTable {
  if (table.name === "outbox" || table.name === "sent_events") {
    const keptTypes = keptEventTypes.map((type) => `'${type}'`).join(", ");
    return { ...table, condition: `location_id = $1 and type not in (${keptTypes})` };
  }
  switch (`${service}.${table.name}`) {
    // Operators' consumers, and consumers with keys of other locations, remain.
    case "accounts.consumers":
      return {
        ...table,
        condition: "location_id = $1 and not exists (select from api_keys where consumer_id = consumers.id)",
      };
    // A task of reporting deletes these objects and rows, so that the objects of uploads in progress are found.
    case "reporting.unused_objects":
      return { ...table, condition: "location_id = $1 and false" };
    default:
      return table;
  }
}

/** Deletes the rows of a location from a table in batches. Calls `onBatch` with the number of deleted rows of each. */
async function deleteLocationRows(
  sql: SqlClient,
  { name, condition }: LocationTable,
  { locationId, onBatch }: { locationId: string; onBatch: (rows: number) => void },
): Promise<void> {
  const key = await findUniqueKey(sql, name);
  const columns = key.map((column) => `"${column}"`).join(", ");
  const batch = `select ${columns} from "${name}" where ${condition} limit ${deleteBatchRows}`;
  const statement = `delete from "${name}" where (${columns}) in (${batch})`;
  for (;;) {
    const { count } = await sql.unsafe(statement, [locationId]);
    if (count > 0) onBatch(count);
    if (count < deleteBatchRows) return;
  }
}

/** Returns the columns of the primary key of a table, or of another unique key without expressions. */
async function findUniqueKey(sql: SqlClient, table: string): Promise<string[]> {
  const [key] = await sql<{ columns: string[] }[]>`
    select array(
      select attname::text from unnest(indkey) with ordinality as part (number, position)
      join pg_attribute on attrelid = indrelid and attnum = number order by position
    ) as columns
    from pg_index where indrelid = ${`"${table}"`}::regclass and indisunique and indexprs is null
    order by indisprimary desc limit 1`;
  if (!key) throw new Error(`The table ${table} has no unique key.`);
  return key.columns;
}
