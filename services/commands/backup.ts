import { readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { backupConfigSchema, createDatabaseAndTillBackup, restoreDatabaseAndTillBackup } from "./backup-and-restore.ts";

const usage = `backup <folder>     back up the database and the till bodies to a folder
restore <folder>    restore a backup to an empty database and an empty object store

Both read DATABASE_URL, OBJECT_STORE and NAMESPACE from the environment, and need pg_dump and pg_restore in PATH.
`;

const [command, folder] = process.argv.slice(2);
try {
  if (!folder || (command !== "backup" && command !== "restore")) throw new Error(usage);
  const config = readConfigFromEnvironment(backupConfigSchema, process.env);
  const manifest =
    command === "backup"
      ? await createDatabaseAndTillBackup(config, folder)
      : await restoreDatabaseAndTillBackup(config, folder);
  process.stdout.write(`${JSON.stringify(manifest, null, 2)}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
