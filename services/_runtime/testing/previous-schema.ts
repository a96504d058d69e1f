import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "../config/runtime-config.ts";
import { createDatabasePool, type Database, type SqlClient, type SqlFragment } from "../database/postgres.ts";
import { runMigrationOutsideTransaction, runsOutsideTransaction } from "../database/run-outside-transaction.ts";
import { createLogger } from "../observability/logger.ts";
import { findEnclosingPackageFolder } from "../process/package-folder.ts";
import type { IsolatedTestEnvironment } from "./test-environment.ts";

/** The number of the first migration that the previous version does not contain, by folder in `services/`. */
type FirstNewMigrations = Record<string, number>;

/**
 * Creates the schema of the previous version, so that a test can insert rows as that version would. `migrate` then
 * applies the new migrations, folder by folder in the sequence of `firstNewMigrations`. `schemaSuffix` follows the
 * namespace in the name of the schema.
 */
export async function createPreviousDatabaseSchema(
  environment: IsolatedTestEnvironment,
  firstNewMigrations: FirstNewMigrations,
  schemaSuffix = "previous",
): Promise<{ db: Database; migrate(): Promise<void> }> {
  const config = readConfigFromEnvironment(commonServiceConfigSchema, environment.variables);
  const log = createLogger({ name: "test", level: "silent" });
  const schema = `${environment.namespace}_${schemaSuffix}`;
  const db = createDatabasePool(config, { schema, log });
  await db.sql`create schema ${db.sql(schema)}`;

  async function applyMigrations(isIncluded: (number: number, firstNew: number) => boolean): Promise<void> {
    for (const [folder, firstNew] of Object.entries(firstNewMigrations)) {
      const path = join(findEnclosingPackageFolder(import.meta.url), "..", folder, "migrations");
      for (const file of (await readdir(path)).sort()) {
        if (!isIncluded(Number.parseInt(file, 10), firstNew)) continue;
        const statements = await readFile(join(path, file), "utf8");
        if (runsOutsideTransaction(statements)) await runMigrationOutsideTransaction(db.sql, statements, log);
        else await db.transaction((tx) => tx.unsafe(statements));
      }
    }
  }
  await applyMigrations((number, firstNew) => number < firstNew);
  return { db, migrate: () => applyMigrations((number, firstNew) => number >= firstNew) };
}

/** Deletes the rows that match `condition` as version 1.0 does: by their `ctid`, which views must therefore contain. */
export async function deletePreviousVersionRows(sql: SqlClient, name: string, condition: SqlFragment): Promise<void> {
  const table = sql(name);
  await sql`delete from ${table} where ctid in (select ctid from ${table} where ${condition} limit 5000)`;
}
