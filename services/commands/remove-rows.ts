import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceName } from "@pragma/contracts/service-names";
import { retryTransient } from "@pragma/runtime/retries/transient-error";
import { deleteRowsInBatches } from "@pragma/runtime/service/remove-expired-rows";
import { type LocationTable, listLocationTables, removalSequence } from "./location-tables.ts";
import { keptEventTypes, type RemovalContext } from "./removal-receipt.ts";

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

async function removeRows(context: RemovalContext): Promise<number> {
  const { databases, locationId, log } = context;
  let total = 0;
  for (const service of removalSequence) {
    const { sql, schema } = databases[service];
    const tables = await listLocationTables(sql, { name: service, schema });
    for (const { name, condition } of tables.reverse().map((each) => toRemovableRows(service, each))) {
      const onBatch = (rows: number) => {
        total += rows;
        log(`${service}.${name} ${rows}`);
      };
      // The id is a UUID.
      const isOfLocation = sql`${sql.unsafe(condition.replaceAll("$1", `'${locationId}'`))}`;
      const deleteRows = () => deleteRowsInBatches(sql, name, isOfLocation, onBatch);
      await retryTransient(deleteRows, AbortSignal.timeout(retryTimeoutMs));
    }
    // The owners of stored responses begin with the id of the location of the key that sent the request.
    await sql`
      delete from idempotent_requests where starts_with(owner, ${`${locationId} `}) or location_id = ${locationId}`;
  }
  return total;
}

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
