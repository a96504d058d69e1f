import { readFile } from "node:fs/promises";
import type postgres from "postgres";
import {
  type BackupConfig,
  type BackupManifest,
  backupManifest,
  copyObjects,
  partsOf,
  runPostgresProgram,
  withDatabase,
} from "./back-up.ts";

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
  await withDatabase(config, refuseUnlessEmpty);
  await runPostgresProgram("pg_restore", DATABASE_URL, [
    "--no-owner",
    "--no-privileges",
    "--exit-on-error",
    "--single-transaction",
    parts.database,
  ]);
  await copyObjects(config, { from: parts.objects, to: OBJECT_STORE });
  return manifest;
}

async function refuseUnlessEmpty(sql: postgres.Sql, { NAMESPACE }: BackupConfig): Promise<void> {
  const [row] = await sql<{ names: string | null }[]>`
    select string_agg(nspname, ', ') as names from pg_namespace where starts_with(nspname, ${`${NAMESPACE}_`})`;
  if (row?.names) throw new Error(`The database is not empty: it has ${row.names}. Restore into another one.`);
}
