import { readFile } from "node:fs/promises";
import { openObjectStore } from "@pragma/runtime/object-store/object-store";
import postgres from "postgres";
import {
  type BackupConfig,
  type BackupManifest,
  backupManifest,
  copyObject,
  forEach,
  listObjectKeys,
  partsOf,
} from "./back-up.ts";
import { runPostgresProgram } from "./postgres-programs.ts";

/**
 * Brings back what a backup holds, into a database and an object store that have nothing of this installation. NATS and
 * Redis are to be empty: the stream is made anew, what had not been sent is sent, tills without a result are announced
 * again, and queues fill from the database.
 *
 * @throws before anything is written when the database holds something of this namespace, or the backup is another's.
 */
export async function restore(config: BackupConfig, folder: string): Promise<BackupManifest> {
  const { DATABASE_URL, OBJECT_STORE, NAMESPACE } = config;
  const parts = partsOf(folder);
  const manifest = backupManifest.parse(JSON.parse(await readFile(parts.manifest, "utf8")));
  if (manifest.namespace !== NAMESPACE) {
    throw new Error(`The backup is of the namespace ${manifest.namespace}, and NAMESPACE is ${NAMESPACE}.`);
  }
  await refuseUnlessEmpty(config);
  await runPostgresProgram("pg_restore", DATABASE_URL, [
    "--no-owner",
    "--no-privileges",
    "--exit-on-error",
    "--single-transaction",
    parts.database,
  ]);
  const from = openObjectStore(parts.objects);
  const to = openObjectStore(OBJECT_STORE);
  try {
    await forEach(await listObjectKeys(config), (key) => copyObject(key, from, to));
    return manifest;
  } finally {
    await from.close();
    await to.close();
  }
}

async function refuseUnlessEmpty({ DATABASE_URL, NAMESPACE }: BackupConfig): Promise<void> {
  const sql = postgres(DATABASE_URL, { max: 1, onnotice: () => {} });
  try {
    const [row] = await sql<{ names: string | null }[]>`
      select string_agg(nspname, ', ') as names from pg_namespace where starts_with(nspname, ${`${NAMESPACE}_`})`;
    if (row?.names) throw new Error(`The database is not empty: it has ${row.names}. Restore into another one.`);
  } finally {
    await sql.end();
  }
}
