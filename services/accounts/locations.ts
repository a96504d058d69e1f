import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type {
  ChangeLocationRequest,
  CreateLocationRequest,
  ImportLocationRequest,
  PrintedTicketHeader,
} from "@pragma/contracts/location";
import { defaultLocationPosOptions, defaultLocationSettings } from "@pragma/contracts/location-settings";
import type { Principal } from "@pragma/contracts/principal";
import { otherTimeZoneTillsReplySchema, otherTimeZoneTillsTopic } from "@pragma/contracts/till-time-zones";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import type { AuditSource } from "@pragma/runtime/messaging/audit-events";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import { getReadRestrictionLocationId } from "@pragma/runtime/service-calls/location-lookup";
import type { AccountsServiceContext } from "./context.ts";
import { insertAuditEvent } from "./queries/audit-events.ts";
import { insertLocation, type LocationRow, locationColumns, type NewLocation } from "./queries/locations.ts";

/** Publishes `location.updated`, so that other services refresh their copies of the location. */
async function publishLocationUpdated(
  tx: SqlTransaction,
  location: LocationRow,
  { traceparent }: AuditSource,
): Promise<void> {
  const { id, application, legacyId, settings } = location;
  await writeEventToOutbox(tx, "location.updated", {
    subject: id,
    data: { locationId: id, application, legacyId, timeZone: settings.timezone },
    traceparent,
  });
}

/** Returns a location with all options and settings. Adds defaults for options and settings that are not stored. */
export function toLocationDetails({ settingsId, settings, options, ...location }: LocationRow) {
  return {
    ...location,
    ...defaultLocationPosOptions,
    ...options,
    locationSettings: { id: settingsId, ...defaultLocationSettings, ...settings },
  };
}

/** Returns a location's ticket header, named after the establishment, or after the location if that name is missing. */
export function toLocationTicketHeader({
  id,
  settings,
  options,
}: Pick<LocationRow, "id" | "settings" | "options">): PrintedTicketHeader {
  return {
    id,
    name: settings.establishmentName ?? settings.locationName,
    address: settings.address1,
    zip: settings.zipCode,
    city: settings.city,
    country: settings.country,
    phone: settings.phoneNumber,
    url: settings.website,
    siret: settings.siretCode,
    naf: settings.nafCode,
    tva: settings.tvaCode,
    text: settings.customHeader,
    timezone: settings.timezone,
    currencyCode: options.currencyCode ?? defaultLocationPosOptions.currencyCode,
  };
}

/**
 * Checks that a principal may access a location. @throws `ApiError` location_not_found, because another error would
 * reveal that the location exists; location_forbidden if the principal has neither a location nor `locations:any`.
 */
export function requireAccessToLocation(principal: Principal, id: string): void {
  const readableId = getReadRestrictionLocationId(principal);
  if (readableId !== null && readableId !== id.toLowerCase()) throw createLocationNotFoundError(id);
}

export function createLocationNotFoundError(id: string): ApiError {
  return new ApiError("location_not_found", { detail: `There is no location ${id}.` });
}

/** Inserts a location and publishes `location.updated`. Returns undefined if its legacyId already exists. */
async function addLocation(
  tx: SqlTransaction,
  location: Omit<NewLocation, "id" | "settingsId">,
  action: "location.created" | "location.imported",
  audit: AuditSource,
): Promise<LocationRow | undefined> {
  const added = await insertLocation(tx, { ...location, id: randomUUID(), settingsId: randomUUID() });
  if (!added) return undefined;
  await publishLocationUpdated(tx, added, audit);
  const { application, legacyId, organizationId, agencyId } = location;
  await insertAuditEvent(tx, audit, {
    ...{ action, locationId: added.id, target: { type: "location", id: added.id } },
    details: { application, ...(legacyId !== null && { legacyId }), organizationId, agencyId },
  });
  return added;
}

/** Creates a location with its options and settings, publishes `location.updated`, and returns its id. */
export async function insertNewLocation(
  { db }: Pick<AccountsServiceContext, "db">,
  { location, audit }: { location: CreateLocationRequest; audit: AuditSource },
): Promise<string> {
  const { application, organizationId, agencyId, isSandbox, locationSettings: settings, ...options } = location;
  const row = { application, legacyId: null, organizationId, agencyId, isSandbox, options, settings };
  return db.transaction(async (tx) => {
    const created = await addLocation(tx, row, "location.created", audit);
    if (!created) throw new Error("A location without a legacyId cannot conflict with another.");
    return created.id;
  });
}

/**
 * Imports a location with default options and settings. If it was imported before, changes nothing. Returns the id, and
 * whether the location is new. @throws `ApiError` location_exists if the legacyId belongs to another organization or
 * agency.
 */
export async function importLegacyLocation(
  { db }: Pick<AccountsServiceContext, "db">,
  { location, audit }: { location: ImportLocationRequest; audit: AuditSource },
): Promise<{ id: string; isNew: boolean }> {
  const { organizationId, agencyId } = location;
  return db.transaction(async (tx) => {
    const defaults = { options: defaultLocationPosOptions, settings: defaultLocationSettings };
    const row = { ...location, ...defaults, isSandbox: false };
    const imported = await addLocation(tx, row, "location.imported", audit);
    if (imported) return { id: imported.id, isNew: true };
    const [existing] = await tx<Pick<LocationRow, "id" | "organizationId" | "agencyId">[]>`
      select id, organization_id, agency_id from locations
      where application = ${location.application} and legacy_id = ${location.legacyId}`;
    if (existing?.organizationId === organizationId && existing.agencyId === agencyId)
      return { id: existing.id, isNew: false };
    throw new ApiError("location_exists", {
      detail: `The ${location.application} location with legacyId ${location.legacyId} already exists and belongs to another organization or agency.`,
    });
  });
}

/** Changes a location, publishes `location.updated`, and returns it. @throws `ApiError` location_not_found. */
export async function applyLocationChange(
  { db }: Pick<AccountsServiceContext, "db">,
  { id, change, audit }: { id: string; change: ChangeLocationRequest; audit: AuditSource },
): Promise<LocationRow> {
  const { organizationId, agencyId, locationSettings = {}, ...options } = change;
  return db.transaction(async (tx) => {
    const [location] = await tx<LocationRow[]>`
      select ${locationColumns(tx)} from locations where id = ${id} for update`;
    if (!location) throw createLocationNotFoundError(id);
    const changedOptions = { ...location.options, ...definedFields(options) };
    const changedSettings = { ...location.settings, ...definedFields(locationSettings) };
    const [changed] = await tx<[LocationRow]>`
      update locations set
        organization_id = ${organizationId ?? location.organizationId}, agency_id = ${agencyId ?? location.agencyId},
        options = ${tx.json(changedOptions)}, settings = ${tx.json(changedSettings)}, updated_at = now()
      where id = ${id}
      returning ${locationColumns(tx)}`;
    await publishLocationUpdated(tx, changed, audit);
    // Only the names, because the values can be data of persons.
    const { locationSettings: _, ...others } = definedFields(change);
    const fields = [...Object.keys(others), ...Object.keys(definedFields(locationSettings))].sort();
    await insertAuditEvent(tx, audit, {
      ...{ action: "location.changed", locationId: id, target: { type: "location", id } },
      details: { fields },
    });
    return changed;
  });
}

const countTimeoutMs = 5_000;

/** Returns the number of tills in another time zone; null without a reply, as the change is already made. */
export async function countTillsInOtherTimeZone(
  { sendBusRequest, log }: Pick<AccountsServiceContext, "sendBusRequest" | "log">,
  request: { locationId: string; timeZone: string },
): Promise<number | null> {
  try {
    const reply = await sendBusRequest(otherTimeZoneTillsTopic, JSON.stringify(request), { timeoutMs: countTimeoutMs });
    return otherTimeZoneTillsReplySchema.parse(JSON.parse(reply)).count;
  } catch (error) {
    log.warn({ err: error, locationId: request.locationId }, "tills in another time zone could not be counted");
    return null;
  }
}

type DefinedFields<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

function definedFields<Fields extends object>(fields: Fields): DefinedFields<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as DefinedFields<Fields>;
}
