import { requireValidLocation } from "./import-accounts.ts";
import { InvalidArchiveError } from "./location-archive.ts";
import type { ArchiveManifest } from "./location-manifest.ts";
import { omittedTables } from "./location-manifest.ts";
import { importSequence, listLocationTables } from "./location-tables.ts";
import { readRowBatches, type VerifiedArchive } from "./read-row-batches.ts";
import type { ServiceDatabasePools } from "./service-database-pools.ts";
import { completeArchivedRow, findRowWithSameKey, requireStorableRows } from "./write-location-rows.ts";

interface NewLocation {
  databases: ServiceDatabasePools;
  locationId: string;
}

/** @throws `Error` that names the services with other migrations than the archive. */
export async function requireSameMigrations(
  databases: ServiceDatabasePools,
  { migrations }: ArchiveManifest,
): Promise<void> {
  const differences: string[] = [];
  for (const service of importSequence) {
    const archived = migrations[service] ?? [];
    const rows = await databases.of(service).sql<{ name: string }[]>`select name from migrations`;
    const installed = rows.map(({ name }) => name);
    const missingHere = archived.filter((name) => !installed.includes(name));
    const missingThere = installed.filter((name) => !archived.includes(name));
    if (missingHere.length > 0)
      differences.push(`${service}: the archive is newer, this installation lacks ${missingHere.join(", ")}`);
    if (missingThere.length > 0)
      differences.push(`${service}: the archive is older, it lacks ${missingThere.join(", ")}`);
  }
  if (differences.length > 0)
    throw new InvalidArchiveError(
      `The archive and this installation have different migrations. Upgrade the older one, and export the location again if necessary.\n${differences.join("\n")}`,
    );
}

/** @throws `Error` that names a table with rows of the location. */
export async function requireNoLocationData({ databases, locationId }: NewLocation): Promise<void> {
  for (const service of importSequence) {
    const { sql, schema } = databases.of(service);
    for (const { name, condition } of await listLocationTables(sql, { name: service, schema })) {
      if (omittedTables.has(name) && name !== "unused_objects") continue;
      const rows = await sql.unsafe(`select 1 from "${name}" where ${condition} limit 1`, [locationId]);
      if (rows.length > 0 && name === "unused_objects")
        throw new Error(
          `A till of the location ${locationId} was being packed when the location was removed. Its object is deleted within an hour. Run the import again then.`,
        );
      if (rows.length > 0)
        throw new Error(`The location ${locationId} already has data in this installation (${service}.${name}).`);
    }
  }
}

/**
 * @throws `InvalidArchiveError` for rows that tables cannot store, and `Error` that names a table in which a row has an
 * id, a key hash or a legacy id of the archive.
 */
export async function requireNewRows({
  databases,
  locationId,
  ...archive
}: NewLocation & VerifiedArchive): Promise<void> {
  for await (const { service, table, rows } of readRowBatches(archive)) {
    const { sql } = databases.of(service);
    const part = `${service}.${table}`;
    const completed = rows.map((row) => completeArchivedRow(part, row, locationId));
    await requireStorableRows(sql, { service, table, rows: completed });
    if (part === "accounts.locations") rows.forEach(requireValidLocation);
    // Consumers can exist, because locations share them.
    if (part === "accounts.consumers") continue;
    const found = await findRowWithSameKey(sql, { table, rows });
    if (found)
      throw new Error(
        `The archive cannot be imported, because ${part} already has a row with ${found}. It belongs to another location.`,
      );
  }
}
