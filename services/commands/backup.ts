import {
  createDatabaseAndTillBackup,
  readDataStoresConfig,
  restoreDatabaseAndTillBackup,
} from "./backup-and-restore.ts";

const usage = `backup <folder>     back up the databases and their objects (till bodies and packed tills) to a folder
restore <folder>    restore a backup to empty databases, and add the objects that the object store lacks

Both read DATABASE_URL, <SERVICE>_DATABASE_URL, <SERVICE>_OWNER_DATABASE_URL, OBJECT_STORE and NAMESPACE from the
environment, and need pg_dump and pg_restore in PATH.
`;

const log = (line: string) => void process.stderr.write(`${line}\n`);

const [command, folder, ...others] = process.argv.slice(2);
try {
  // Without this check, `backup --help` would write a backup to a folder of this name.
  if (!folder || folder.startsWith("-") || others.length > 0 || (command !== "backup" && command !== "restore"))
    throw new Error(usage);
  const config = readDataStoresConfig(process.env);
  const manifest =
    command === "backup"
      ? await createDatabaseAndTillBackup(config, { folder, log })
      : await restoreDatabaseAndTillBackup(config, { folder, log });
  process.stdout.write(`${JSON.stringify(manifest, null, 2)}\n`);
  if (manifest.damagedObjects.length > 0)
    throw new Error(
      `Everything was copied, except ${manifest.damagedObjects.length} objects that do not have their hash (damagedObjects).`,
    );
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
