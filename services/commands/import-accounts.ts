import { LocationRef } from "@pragma/contracts/principal";
import { isAcceptedTimeZone } from "@pragma/contracts/time-zone";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { operatorCommandAuditSource, publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import type { ImportedConsumer } from "./imported-consumers.ts";
import { InvalidArchiveError } from "./location-archive.ts";
import { insertRows, withValues } from "./write-location-rows.ts";

interface AccountRow {
  table: string;
  /** The row as JSON. */
  line: string;
  consumers: ImportedConsumer[];
}

/** Stores a row of accounts. A consumer that exists is not changed. */
export async function importAccountRow(tx: SqlTransaction, { table, line, consumers }: AccountRow): Promise<void> {
  const findConsumer = (archivedId: string) => {
    const consumer = consumers.find((each) => each.archivedId === archivedId);
    if (!consumer) throw new Error(`The archive lacks the consumer ${archivedId}.`);
    return consumer;
  };
  if (table === "consumers") {
    const { id, name, isNew } = findConsumer(JSON.parse(line).id);
    if (isNew && (await insertRows(tx, table, [withValues(line, { id })])) === 0)
      throw new Error(`The consumer ${name} cannot be imported, because its name is in use.`);
    return;
  }
  if (table !== "api_keys") {
    await insertRows(tx, table, [line]);
    return;
  }
  const { id } = findConsumer(JSON.parse(line).consumer_id);
  await insertRows(tx, table, [withValues(line, { consumer_id: id })]);
}

/** Checks that services can use an archived location. @throws `InvalidArchiveError` */
export function requireValidLocation(row: string): void {
  const { legacy_id: legacyId, time_zone: timeZone, ...location } = JSON.parse(row);
  const { error } = LocationRef.safeParse({ ...location, legacyId, timeZone });
  if (error)
    throw new InvalidArchiveError(
      `The location in the archive is not valid: ${error.issues.map(({ path }) => path[0]).join(", ")}.`,
    );
  if (!isAcceptedTimeZone(timeZone))
    throw new InvalidArchiveError(
      `The time zone of the location in the archive, ${timeZone}, is not an IANA name. Change it with PATCH /v1/locations/{id} before you export the location.`,
    );
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
  await publishAuditEvent(tx, operatorCommandAuditSource, {
    ...{ action: "location.imported", locationId, target: { type: "location", id: locationId } },
    details: { importedKeys: keys.map(({ id }) => id) },
  });
  for (const { id: keyId, hash: keyHash, isRevoked: revoked } of keys)
    await writeEventToOutbox(tx, "key.changed", {
      ...{ subject: keyId, traceparent: undefined },
      data: { locationId, keyId, keyHash, revoked },
    });
}
