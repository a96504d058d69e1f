import type { ServiceName } from "@pragma/contracts/service-names";
import type { ServiceDatabasePools } from "./service-database-pools.ts";

/** The import of an archive. Each service records in `location_imports` how far it has come. */
export interface LocationImport {
  databases: ServiceDatabasePools;
  locationId: string;
  /** Identifies the archive. */
  archiveHash: string;
}

/**
 * Returns the import of the location that was started before, or undefined.
 *
 * @throws `Error` if it was that of another archive.
 */
export async function findStartedImport({
  databases,
  locationId,
  archiveHash,
}: LocationImport): Promise<{ isFinished: boolean } | undefined> {
  const [row] = await databases.of("accounts").sql<{ archiveHash: string; isFinished: boolean }[]>`
    select archive_hash, finished_at is not null as is_finished from location_imports
    where location_id = ${locationId}`;
  if (!row || row.archiveHash === archiveHash) return row;
  throw new Error(
    row.isFinished
      ? `The location ${locationId} was already imported from another archive.`
      : `The import of another archive of the location ${locationId} was interrupted. Run it again with that archive, or remove the location.`,
  );
}

/** Records in the database of a service that the import has started, unless it has before. */
export async function recordImportStart(
  { databases, locationId, archiveHash }: LocationImport,
  service: ServiceName,
): Promise<void> {
  await databases.of(service).transaction(async (tx) => {
    await tx`insert into location_imports ${tx({ locationId, archiveHash })} on conflict do nothing`;
    // The location may have been removed from this installation before.
    await tx`delete from removed_locations where location_id = ${locationId}`;
  });
}
