import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { ChangeLocation, CreateLocation, ImportLocation, LocationTicketHeader } from "@pragma/contracts/location";
import { defaultLocationOptions, defaultLocationSettings } from "@pragma/contracts/location-settings";
import type { Principal } from "@pragma/contracts/principal";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { publishEvent } from "@pragma/runtime/messaging/outbox";
import type { RequestContext } from "@pragma/runtime/observability/request-context";
import { getReadableLocationId } from "@pragma/runtime/service-calls/location-lookup";
import type { AccountsContext } from "./context.ts";
import {
  findLocationOwner,
  insertLocation,
  type LocationRow,
  lockLocationRow,
  updateLocation,
} from "./queries/locations.ts";

/** Tells those who keep a copy of a location that it was made or changed. */
async function publishLocationUpdated(tx: SqlTransaction, location: LocationRow, traceparent: string): Promise<void> {
  const { id, application, legacyId, settings } = location;
  await publishEvent(tx, "location.updated", {
    subject: id,
    data: { locationId: id, application, legacyId, timeZone: settings.timezone },
    traceparent,
  });
}

/** A location with every option and setting; those that it was made without, being older than they are, at their default. */
export function toLocationDetails({ settingsId, settings, options, ...location }: LocationRow) {
  return {
    ...location,
    ...defaultLocationOptions,
    ...options,
    locationSettings: { id: settingsId, ...defaultLocationSettings, ...settings },
  };
}

/** The header of a location's tickets. Where the establishment has no name of its own, it is the location's. */
export function toLocationHeader({ id, settings }: Pick<LocationRow, "id" | "settings">): LocationTicketHeader {
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
  };
}

/** Refuses with location_not_found the location that is another's: to this key it is not there. */
export function requireReadableLocation(principal: Principal, id: string): void {
  const readableId = getReadableLocationId(principal);
  if (readableId !== null && readableId !== id.toLowerCase()) throw locationNotFoundError(id);
}

export function locationNotFoundError(id: string): ApiError {
  return new ApiError("location_not_found", { detail: `There is no location ${id}.` });
}

/** Makes a location with its options and settings, and its `location.updated` event; gives its id. */
export async function createLocation(
  { db }: Pick<AccountsContext, "db">,
  { location, context }: { location: CreateLocation; context: RequestContext },
): Promise<string> {
  const { application, organizationId, agencyId, locationSettings: settings, ...options } = location;
  return db.transaction(async (tx) => {
    const created = await insertLocation(tx, {
      id: randomUUID(),
      application,
      legacyId: null,
      organizationId,
      agencyId,
      options,
      settingsId: randomUUID(),
      settings,
    });
    if (!created) throw new Error("A location without a legacyId cannot be in another's place.");
    await publishLocationUpdated(tx, created, context.traceparent);
    return created.id;
  });
}

/**
 * Takes over a location of a legacy backoffice, with every option and setting at its default and no name yet. The same
 * location again is the one that is there.
 *
 * @throws `ApiError` location_exists when the legacyId is there already, of another organization or agency.
 */
export async function importLocation(
  { db }: Pick<AccountsContext, "db">,
  { location, context }: { location: ImportLocation; context: RequestContext },
): Promise<{ id: string; isNew: boolean }> {
  const { organizationId, agencyId } = location;
  return db.transaction(async (tx) => {
    const imported = await insertLocation(tx, {
      ...location,
      id: randomUUID(),
      options: defaultLocationOptions,
      settingsId: randomUUID(),
      settings: defaultLocationSettings,
    });
    if (imported) {
      await publishLocationUpdated(tx, imported, context.traceparent);
      return { id: imported.id, isNew: true };
    }
    const existing = await findLocationOwner(tx, location);
    if (existing?.organizationId === organizationId && existing.agencyId === agencyId)
      return { id: existing.id, isNew: false };
    throw new ApiError("location_exists", {
      detail: `${location.application} ${location.legacyId} is there already, of another organization or agency.`,
    });
  });
}

/**
 * Changes what is told of a location and leaves the rest, with its `location.updated` event.
 *
 * @throws `ApiError` location_not_found.
 */
export async function changeLocation(
  { db }: Pick<AccountsContext, "db">,
  { id, change, context }: { id: string; change: ChangeLocation; context: RequestContext },
): Promise<LocationRow> {
  const { organizationId, agencyId, locationSettings = {}, ...options } = change;
  return db.transaction(async (tx) => {
    const location = await lockLocationRow(tx, id);
    if (!location) throw locationNotFoundError(id);
    const changed = await updateLocation(tx, {
      id,
      organizationId: organizationId ?? location.organizationId,
      agencyId: agencyId ?? location.agencyId,
      options: { ...location.options, ...definedFields(options) },
      settings: { ...location.settings, ...definedFields(locationSettings) },
    });
    await publishLocationUpdated(tx, changed, context.traceparent);
    return changed;
  });
}

/** The fields that were given: those that are undefined are left out. */
type DefinedFields<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

function definedFields<Fields extends object>(fields: Fields): DefinedFields<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as DefinedFields<Fields>;
}
