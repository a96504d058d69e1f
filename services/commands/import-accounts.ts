import { LocationRef } from "@pragma/contracts/principal";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import { insertRows, withValues } from "./location-rows.ts";

/** A consumer of a location's keys. */
export interface ImportedConsumer {
  name: string;
  /** The id in the archive. */
  archivedId: string;
  /** The id in this installation, which differs if the installation had a consumer of this name. */
  id: string;
  isNew: boolean;
}

interface AccountRow {
  table: string;
  /** The row as JSON. */
  line: string;
  locationId: string;
  /** The consumers that have been imported. This function adds to them. */
  consumers: ImportedConsumer[];
}

/** Stores a row of accounts. A consumer that locations share is matched by its name. */
export async function importAccountRow(
  tx: SqlTransaction,
  { table, line, locationId, consumers }: AccountRow,
): Promise<void> {
  if (table === "consumers") {
    consumers.push(await importConsumer(tx, line, locationId));
    return;
  }
  if (table !== "api_keys") {
    await insertRows(tx, table, [line]);
    return;
  }
  const { consumer_id: archivedId } = JSON.parse(line);
  const consumer = consumers.find((each) => each.archivedId === archivedId);
  if (!consumer) throw new Error(`The archive lacks the consumer ${archivedId}.`);
  await insertRows(tx, table, [withValues(line, { consumer_id: consumer.id })]);
}

async function importConsumer(tx: SqlTransaction, line: string, locationId: string): Promise<ImportedConsumer> {
  const row: { id: string; name: string; display_name: string | null; location_id: string | null } = JSON.parse(line);
  const [existing] = await tx<{ id: string }[]>`select id from consumers where name = ${row.name} for share`;
  const { id: archivedId, name } = row;
  if (existing) return { name, archivedId, id: existing.id, isNew: false };
  // The other location that created it may not exist here.
  const isOfOtherLocation = row.location_id !== null && row.location_id !== locationId;
  const displayName = row.display_name ?? row.name;
  const ownNames = { name: `${locationId}:${displayName}`, display_name: displayName, given_name: displayName };
  const own = isOfOtherLocation ? { ...ownNames, location_id: locationId } : {};
  const inserted = await insertRows(tx, "consumers", [withValues(line, own)]);
  if (inserted === 0) throw new Error(`The consumer ${name} cannot be imported, because its id or name is in use.`);
  return { name: isOfOtherLocation ? ownNames.name : name, archivedId, id: archivedId, isNew: true };
}

/** Publishes the events that are published when a location and its keys are created. */
export async function publishImportedLocation(tx: SqlTransaction, locationId: string): Promise<void> {
  const [location] = await tx`
    select id, application, legacy_id, time_zone from locations where id = ${locationId}`;
  const { id: _, ...data } = LocationRef.parse(location);
  await writeEventToOutbox(tx, "location.updated", {
    ...{ subject: locationId, traceparent: undefined },
    data: { ...data, locationId },
  });
  const keys = await tx<{ id: string; hash: string; isRevoked: boolean }[]>`
    select id, hash, revoked_at is not null as is_revoked from api_keys where location_id = ${locationId}`;
  for (const { id: keyId, hash: keyHash, isRevoked: revoked } of keys)
    await writeEventToOutbox(tx, "key.changed", {
      ...{ subject: keyId, traceparent: undefined },
      data: { locationId, keyId, keyHash, revoked },
    });
}
