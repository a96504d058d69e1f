import {
  createServiceDatabasePools,
  type LocationCommandContext,
  readRemovalConfig,
  removeLocation,
} from "./remove-location.ts";

/** The most sandboxes that one run removes. The next run continues. */
const maxRemovals = 1_000;

/**
 * Removes the sandboxes that the service sandboxes has ended, as `location remove` does, for installations in which the
 * service has no access to the databases of other services (`SANDBOX_REMOVAL=command`).
 *
 * @throws `ConfigError`, and `Error` with each sandbox that could not be removed, after all others were removed.
 */
export async function removeEndedSandboxes({ environment, log }: LocationCommandContext) {
  const databases = createServiceDatabasePools(readRemovalConfig(environment));
  const removed: string[] = [];
  const failures: string[] = [];
  try {
    const ended = await databases.sandboxes.sql<{ id: string; locationId: string }[]>`
      select id, location_id from sandboxes where state = 'removing' order by expires_at limit ${maxRemovals}`;
    for (const { id, locationId } of ended) {
      try {
        await removeSandboxLocation(locationId);
        await databases.sandboxes.sql`
          update sandboxes set state = 'removed', encrypted_key = null, due_at = greatest(now(), created_at + interval '1 day')
          where id = ${id}`;
        removed.push(locationId);
      } catch (error) {
        failures.push(`${locationId}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  } finally {
    await Promise.all(Object.values(databases).map((pool) => pool.close()));
  }
  if (failures.length > 0)
    throw new Error(`${removed.length} sandboxes were removed, and these could not be:\n${failures.join("\n")}`);
  return { removed };

  async function removeSandboxLocation(locationId: string): Promise<void> {
    const { sql } = databases.accounts;
    const [location] = await sql<{ isSandbox: boolean }[]>`select is_sandbox from locations where id = ${locationId}`;
    if (location && !location.isSandbox) throw new Error("The location is not a sandbox.");
    // Without both, an operator has removed the location, and the record of that is not needed here.
    const [started] = await sql`select from removed_locations where location_id = ${locationId}`;
    if (location || started) await removeLocation(locationId, locationId, { environment, log });
  }
}
