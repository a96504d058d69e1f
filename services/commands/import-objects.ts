import { Readable } from "node:stream";
import { createObjectStore } from "@pragma/runtime/object-store/object-store";
import type { DataStoresConfig } from "./backup-and-restore.ts";
import { objectPart, readArchiveLines } from "./location-manifest.ts";
import { createProgressLog } from "./progress-log.ts";
import type { ServiceDatabasePools } from "./service-database-pools.ts";

interface ObjectImport {
  file: string;
  key: string;
  config: Pick<DataStoresConfig, "OBJECT_STORE">;
  databases: ServiceDatabasePools;
  locationId: string;
  log: (line: string) => void;
}

const maxConcurrentObjects = 16;

/** Stores the objects of an archive that the object store lacks. */
export async function importObjects(options: ObjectImport): Promise<void> {
  const { file, key, config, log } = options;
  await postponeBodyRemovals(options);
  const store = createObjectStore(config.OBJECT_STORE);
  const logProgress = createProgressLog(log);
  let count = 0;
  // Objects are the first part of an archive.
  const readObjects = async function* () {
    for await (const { part, json } of readArchiveLines(file, key)) {
      if (part !== objectPart) return;
      yield JSON.parse(json) as { key: string; stored: string };
    }
  };
  try {
    await Readable.from(readObjects()).forEach(
      async (object) => {
        if (!(await store.has(object.key))) await store.putStored(object.key, Buffer.from(object.stored, "base64"));
        logProgress(objectPart, ++count);
      },
      { concurrency: maxConcurrentObjects },
    );
  } finally {
    await store.close();
  }
}

/**
 * Postpones the removal of bodies to which no till referred, such as those whose upload ended after the removal of the
 * location. The archive can contain them, and nothing refers to them until its rows are stored.
 *
 * @throws `Error` while a process is removing such a body.
 */
async function postponeBodyRemovals({ databases, locationId }: ObjectImport): Promise<void> {
  const { sql } = databases.of("till-ingest");
  const pending = await sql<{ isClaimed: boolean }[]>`
    update pending_uploads set created_at = case when removal_claimed_at is null then now() else created_at end
    where starts_with(key, ${`tills/${locationId}/`}) and created_at < 'infinity'
    returning removal_claimed_at is not null as is_claimed`;
  if (pending.some(({ isClaimed }) => isClaimed))
    throw new Error(
      "A body that was being uploaded when the location was removed is being deleted. Run the import again in an hour.",
    );
}
