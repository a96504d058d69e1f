import { randomUUID } from "node:crypto";
import { ApiConsumer } from "@pragma/contracts/api-consumer";
import type { ApiScope } from "@pragma/contracts/scopes";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { z } from "zod";
import { InvalidArchiveError } from "./location-archive.ts";
import { parseArchivedJson } from "./location-manifest.ts";
import { quoteForShell } from "./operator-commands.ts";
import { withValues } from "./write-location-rows.ts";

/** The scopes that give access to other locations. An archive cannot grant them. */
const scopesBeyondLocation: readonly ApiScope[] = ["admin", "locations:any"];

const archivedConsumer = z.object({
  id: z.guid(),
  name: z.string(),
  display_name: z.string().nullable(),
  scopes: ApiConsumer.shape.scopes,
  rate_limit: ApiConsumer.shape.rateLimit,
  location_id: z.guid().nullable(),
});
type ArchivedConsumer = z.infer<typeof archivedConsumer>;

/** A consumer of a location's keys. */
export interface ImportedConsumer {
  name: string;
  /** The id in the archive. */
  archivedId: string;
  /** The id in this installation, which differs if the installation had a consumer of this name, or with this id. */
  id: string;
  isNew: boolean;
}

/**
 * Returns a row of consumers as an archive contains it. Another location that created the consumer may not exist in the
 * other installation, and names that earlier versions gave consumers can be in use there, so it becomes a consumer of the
 * exported location, whose name begins with the location's id.
 *
 * @throws `Error` for a consumer that no installation would import.
 */
export function toArchivedConsumerRow(row: string, locationId: string): string {
  const { name, display_name: displayName, location_id: creatorId, scopes } = JSON.parse(row);
  const beyond = scopes.filter((scope: ApiScope) => scopesBeyondLocation.includes(scope));
  if (creatorId !== null && beyond.length > 0)
    throw new Error(
      `The consumer ${displayName ?? name}, which a location created, has scopes that reach other locations: ${beyond.join(", ")}. No archive may contain such a consumer. Remove the scopes from it first.`,
    );
  if (creatorId === null || (creatorId === locationId && displayName !== null)) return row;
  const ownName = displayName ?? name;
  return withValues(row, {
    ...{ name: `${locationId}:${ownName}`, display_name: ownName, given_name: ownName, location_id: locationId },
  });
}

interface ConsumerSelection {
  locationId: string;
  /** The rows of the archive as JSON. */
  consumerRows: readonly string[];
  /** The names of existing consumers that may have wider scopes than in the archive. */
  allowedConsumers: readonly string[];
}

/**
 * Returns which consumers to use for the keys of an archive: an operators' consumer that exists under the same name, or a
 * new one. Locks existing consumers if it runs in a transaction.
 *
 * @throws `InvalidArchiveError` that names a consumer that would give the keys access beyond what the archive states, or beyond the
 * location.
 */
export async function selectConsumers(
  sql: SqlClient | SqlTransaction,
  { locationId, consumerRows, allowedConsumers }: ConsumerSelection,
): Promise<ImportedConsumer[]> {
  const archived = consumerRows.map(parseConsumer);
  const names = archived.map(({ name }) => name);
  const existing = await sql<{ id: string; name: string; scopes: ApiScope[]; locationId: string | null }[]>`
    select id, name, scopes, location_id from consumers
    where name = any(${names}) or id = any(${archived.map(({ id }) => id)}::uuid[]) for share`;
  requireUniqueConsumers(archived);
  return archived.map((consumer) => {
    const { id: archivedId, name } = consumer;
    if (consumer.location_id !== null && name !== `${locationId}:${consumer.display_name}`)
      throw new InvalidArchiveError(
        `The location's consumer ${name} in the archive has a name that is not the location's.`,
      );
    const found = existing.find((each) => each.name === name);
    if (found && (found.locationId !== null || consumer.location_id !== null))
      throw new InvalidArchiveError(
        `The archive cannot be imported, because a consumer of a location has the name ${name} already.`,
      );
    if (found && !allowedConsumers.includes(name)) requireNoWiderScopes(consumer, found.scopes);
    requireNoScopesBeyondLocation(consumer, found?.scopes);
    if (found) return { name, archivedId, id: found.id, isNew: false };
    const isIdInUse = existing.some(({ id }) => id === archivedId);
    return { name, archivedId, id: isIdInUse ? randomUUID() : archivedId, isNew: true };
  });
}

/** @throws `InvalidArchiveError` when two consumers have the same id or name, or the same name at the location. */
function requireUniqueConsumers(consumers: ArchivedConsumer[]): void {
  const unique = new Set<string>();
  for (const { id, name, display_name: displayName, location_id: creatorId } of consumers)
    for (const value of [id, name, ...(creatorId === null ? [] : [`at the location: ${displayName ?? name}`])]) {
      if (unique.has(value))
        throw new InvalidArchiveError(`The archive has two consumers with the same id or name (${value}).`);
      unique.add(value);
    }
}

function parseConsumer(row: string): ArchivedConsumer {
  const { data, error } = archivedConsumer.safeParse(parseArchivedJson("accounts.consumers", row));
  if (data) return data;
  const fields = new Set(error.issues.map(({ path }) => String(path[0])));
  throw new InvalidArchiveError(`A consumer in the archive is not valid: ${[...fields].join(", ")}.`);
}

const formatAllowOption = (name: string) => `--allow-consumer ${quoteForShell(name)}`;

/** @throws `InvalidArchiveError` when the consumer here has scopes that the archive does not state, or that reach other locations. */
function requireNoWiderScopes({ name, scopes }: ArchivedConsumer, existingScopes: ApiScope[]): void {
  const wider = existingScopes.filter((scope) => !scopes.includes(scope) || scopesBeyondLocation.includes(scope));
  if (wider.length > 0)
    throw new InvalidArchiveError(
      `The consumer ${name} exists in this installation with scopes that it does not have in the archive, or that reach other locations: ${wider.join(", ")}. The keys of the location would get these scopes. If they should, import with ${formatAllowOption(name)}. Otherwise, give the location keys of another consumer before the export.`,
    );
}

/** @throws `InvalidArchiveError` when the archive gives the consumer a scope that reaches other locations, and that it lacks here. */
function requireNoScopesBeyondLocation({ name, scopes }: ArchivedConsumer, existingScopes: ApiScope[] = []): void {
  const lacking = scopes.filter((scope) => scopesBeyondLocation.includes(scope) && !existingScopes.includes(scope));
  if (lacking.length > 0)
    throw new InvalidArchiveError(
      `The consumer ${name} of the archive has scopes that reach other locations: ${lacking.join(", ")}. If the keys of the location should have them, give these scopes to an operators' consumer of this name in this installation, and import with ${formatAllowOption(name)}. Otherwise, remove the scopes from the consumer before the export.`,
    );
}
