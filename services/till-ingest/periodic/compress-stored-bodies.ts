import { createHash } from "node:crypto";
import { ObjectNotFoundError } from "@pragma/runtime/object-store/object-store";
import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { TillIngestServiceContext } from "../context.ts";
import {
  confirmTillObjectUpload,
  recordPendingUploadAndGetKey,
  scheduleObjectRemovalInOneDay,
} from "../queries/pending-uploads.ts";
import {
  listUncompressedTillBodies,
  moveTillBodyReferences,
  type UncompressedBodyObject,
} from "../queries/till-versions.ts";
import { buildTillObjectKey } from "../till-object-key.ts";

type Services = Pick<TillIngestServiceContext, "db" | "objects" | "config" | "log">;

/** Keys of bodies that are missing or damaged. They are skipped until the process restarts, and logged once. */
const skippedKeys = new Set<string>();
/** The task ends if it finds more missing or damaged bodies, because the object store is then probably wrong. */
const maxSkippedKeys = 1_000;

/** About two seconds of work. The next run compresses the next bodies. */
const maxBodiesPerRun = 200;

/**
 * Compresses bodies that were stored before bodies were compressed. Each body is read back and compared with its hash
 * before tills refer to it. The uncompressed object is removed a day later, so that requests and events that have its
 * key can still read it. Setting `COMPRESS_TILL_BODIES` to false stops the task.
 */
export const compressStoredTillBodiesTask: PeriodicTask<Services> = {
  name: "compress stored bodies",
  intervalSeconds: 10,
  async run(services) {
    if (!services.config.COMPRESS_TILL_BODIES || skippedKeys.size >= maxSkippedKeys) return;
    let compressed = 0;
    for (const body of await listUncompressedTillBodies(services.db.sql, {
      skippedKeys: [...skippedKeys],
      limit: maxBodiesPerRun,
    }))
      if (await compressTillBody(services, body)) compressed += 1;
    if (compressed > 0) services.log.info({ bodies: compressed }, "compressed stored bodies");
  },
};

/** Returns false if the body is missing or damaged, which is logged. */
async function compressTillBody(
  { db, objects, config, log }: Services,
  { objectKey, locationId, hash }: UncompressedBodyObject,
): Promise<boolean> {
  const bytes = await objects.get(objectKey).catch((error: unknown) => {
    if (error instanceof ObjectNotFoundError) return undefined;
    throw error;
  });
  if (bytes === undefined || computeHash(bytes) !== hash) {
    skippedKeys.add(objectKey);
    log.error({ objectKey }, "a stored body is missing or does not have the hash of its till");
    return false;
  }
  const compressedKey = await recordPendingUploadAndGetKey(db.sql, buildTillObjectKey(config, { locationId, hash }));
  await objects.put(compressedKey, bytes);
  if (computeHash(await objects.get(compressedKey)) !== hash)
    throw new Error(`${compressedKey} was not stored correctly.`);
  await db.transaction(async (tx) => {
    await moveTillBodyReferences(tx, { from: objectKey, to: compressedKey });
    await confirmTillObjectUpload(tx, compressedKey);
    await scheduleObjectRemovalInOneDay(tx, objectKey);
  });
  return true;
}

function computeHash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
