import { Readable } from "node:stream";
import type { Database } from "@pragma/runtime/database/postgres";
import { type CompressingObjectStore, createObjectStore } from "@pragma/runtime/object-store/object-store";
import { listLocationObjects, removalSequence } from "./location-tables.ts";
import { type RemovalContext, saveReceipt } from "./removal-receipt.ts";

const maxConcurrentDeletions = 16;
const unusedObjectBatchSize = 50;

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
