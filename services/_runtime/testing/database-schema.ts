import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "../config/runtime-config.ts";
import { createDatabasePool, type Database } from "../database/postgres.ts";
import { createLogger } from "../observability/logger.ts";
import { findEnclosingPackageFolder } from "../process/package-folder.ts";
import type { IsolatedTestEnvironment } from "./test-environment.ts";

/**
 * Creates a schema with the tables of these folders in `services/`, for tests that need no service. `suffix` follows the
 * namespace in the name of the schema.
 */
export async function createTestDatabaseSchema(
  environment: IsolatedTestEnvironment,
  folders: string[],
  suffix = "tables",
): Promise<Database> {
  const config = readConfigFromEnvironment(commonServiceConfigSchema, environment.variables);
  const schema = `${environment.namespace}_${suffix}`;
  const db = createDatabasePool(config, { schema, log: createLogger({ name: "test", level: "silent" }) });
  await db.sql`create schema ${db.sql(schema)}`;
  for (const folder of folders) {
    const path = join(findEnclosingPackageFolder(import.meta.url), "..", folder, "migrations");
    for (const file of (await readdir(path)).sort()) {
      const statements = await readFile(join(path, file), "utf8");
      await db.transaction((tx) => tx.unsafe(statements));
    }
  }
  return db;
}
