import { readConfig } from "@pragma/runtime/config/runtime-config";
import { backupConfig, createBackup, restoreBackup } from "./backup-and-restore.ts";

const usage = `backup <folder>     writes the database and the bodies of tills into a folder
restore <folder>    brings them back, into an empty database and object store

Both take DATABASE_URL, OBJECT_STORE and NAMESPACE from the environment, and need PostgreSQL's pg_dump and pg_restore.
`;

const [command, folder] = process.argv.slice(2);
try {
  if (!folder || (command !== "backup" && command !== "restore")) throw new Error(usage);
  const config = readConfig(backupConfig, process.env);
  const manifest = command === "backup" ? await createBackup(config, folder) : await restoreBackup(config, folder);
  process.stdout.write(`${JSON.stringify(manifest, null, 2)}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
