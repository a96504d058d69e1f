import { setTimeout as sleep } from "node:timers/promises";
import { retryTransient } from "@pragma/runtime/retries/transient-error";
import { deleteRowsInBatches } from "@pragma/runtime/service/remove-expired-rows";
import { listLocationTables, removalSequence } from "./location-tables.ts";
import type { RemovalContext } from "./removal-receipt.ts";

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
    for (const { name, condition, removalCondition = condition } of tables.reverse()) {
      const onBatch = (rows: number) => {
        total += rows;
        log(`${service}.${name} ${rows}`);
      };
      // The id is a UUID.
      const isOfLocation = sql`${sql.unsafe(removalCondition.replaceAll("$1", `'${locationId}'`))}`;
      const deleteRows = () => deleteRowsInBatches(sql, name, isOfLocation, onBatch);
      await retryTransient(deleteRows, AbortSignal.timeout(retryTimeoutMs));
    }
    // The owners of stored responses begin with the id of the location of the key that sent the request.
    await sql`
      delete from idempotent_requests where starts_with(owner, ${`${locationId} `}) or location_id = ${locationId}`;
  }
  return total;
}
