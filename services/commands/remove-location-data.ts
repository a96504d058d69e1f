import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type BusEventType, busEventDataSchemas } from "@pragma/contracts/events";
import { runWithDeadline } from "@pragma/runtime/concurrency/run-with-deadline";
import type { Database } from "@pragma/runtime/database/postgres";
import { createEventBus } from "@pragma/runtime/messaging/event-bus";
import { getEventStreamKind, isMissingInJetStream } from "@pragma/runtime/messaging/event-streams";
import { type CompressingObjectStore, createObjectStore } from "@pragma/runtime/object-store/object-store";
import { createLogger } from "@pragma/runtime/observability/logger";
import { retryTransient } from "@pragma/runtime/retries/transient-error";
import { deleteRowsInBatches } from "@pragma/runtime/service/remove-expired-rows";
import { keptEventTypes, listLocationObjects, listLocationTables, removalSequence } from "./location-tables.ts";
import { type RemovalContext, saveReceipt } from "./removal-receipt.ts";

const maxConcurrentDeletions = 16;
const unusedObjectBatchSize = 50;
const maxPasses = 10;
const passIntervalMs = 1_000;
const retryTimeoutMs = 120_000;

/** Deletes the objects of the location, and those that its tills had before they were unpacked. */
export async function removeObjects(context: RemovalContext): Promise<void> {
  const { databases, config, locationId, receipt, log } = context;
  const store = createObjectStore(config.OBJECT_STORE);
  let count = 0;
  try {
    for (const service of removalSequence) {
      // The keys are in rows that are removed later, so that an interrupted removal finds them again.
      await Readable.from(listLocationObjects(databases[service].sql, { service, locationId })).forEach(
        async (key: string) => {
          await store.delete(key);
          count += 1;
          if (count % 1_000 === 0) log(`objects ${count}`);
        },
        { concurrency: maxConcurrentDeletions },
      );
    }
    count += await removeObjectsOfUnpackedTills(databases.reporting, { locationId, store });
  } finally {
    await store.close();
  }
  receipt.objects = Math.max(receipt.objects, count);
  await saveReceipt(context);
}

/**
 * Deletes the objects that tills had before they were unpacked. Leaves those of uploads, whose row says how to find their
 * object, and which are deleted within an hour after the upload began.
 */
async function removeObjectsOfUnpackedTills(
  reporting: Database,
  { locationId, store }: { locationId: string; store: Pick<CompressingObjectStore, "delete"> },
): Promise<number> {
  for (let count = 0; ; ) {
    const deleted = await reporting.transaction(async (tx) => {
      // Like the task of reporting that deletes objects, skips those that are being deleted.
      const rows = await tx<{ objectKey: string }[]>`
        select object_key from unused_objects
        where location_id = ${locationId} and delete_after > now() + interval '1 hour'
        order by object_key limit ${unusedObjectBatchSize} for update skip locked`;
      for (const { objectKey } of rows) await store.delete(objectKey);
      await tx`
        delete from unused_objects
        where location_id = ${locationId} and object_key = any(${rows.map(({ objectKey }) => objectKey)})`;
      return rows.length;
    });
    count += deleted;
    if (deleted < unusedObjectBatchSize) return count;
  }
}

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

/** Deletes the events of the location from the streams, except those that remain. */
export async function removeEvents(context: RemovalContext): Promise<void> {
  const { config, locationId, receipt } = context;
  // The permissions are those of the migrate command.
  const log = createLogger({ name: "location", level: "warn" });
  const bus = createEventBus(config, { name: "migrate", log });
  try {
    const { manager } = await runWithDeadline(() => bus.connected, {
      timeoutMs: 30_000,
      createError: () => new Error("NATS could not be reached. Run the command again."),
    });
    for (const type of Object.keys(busEventDataSchemas) as BusEventType[]) {
      if (keptEventTypes.includes(type)) continue;
      const filter = bus.buildSubject(type, locationId);
      const purge = manager.streams.purge(bus.streams[getEventStreamKind(type)], { filter });
      const { purged } = await purge.catch((error: unknown) => {
        // A stream without events may not exist yet.
        if (isMissingInJetStream(error)) return { purged: 0 };
        throw error;
      });
      receipt.events += purged;
    }
  } finally {
    await bus.close();
  }
  await saveReceipt(context);
}
