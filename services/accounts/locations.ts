import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { ChangeLocation, CreateLocation, ImportLocation, LocationHeader } from "@pragma/contracts/location";
import { defaultLocationOptions, defaultLocationSettings } from "@pragma/contracts/location-settings";
import type { Principal } from "@pragma/contracts/principal";
import { readableLocation } from "@pragma/runtime/locations";
import { publish } from "@pragma/runtime/outbox";
import type { Transaction } from "@pragma/runtime/postgres";
import type { RequestContext } from "@pragma/runtime/request-context";
import type { Accounts } from "./accounts.ts";
import {
  insertLocation,
  type LocationRow,
  locationForUpdate,
  locationOwner,
  updateLocation,
} from "./queries/locations.ts";

/** Tells those who keep a copy of a location that it was made or changed. */
async function publishLocation(tx: Transaction, location: LocationRow, traceparent: string): Promise<void> {
  const { id, application, legacyId, settings } = location;
  await publish(tx, "location.updated", {
    subject: id,
    data: { locationId: id, application, legacyId, timeZone: settings.timezone },
    traceparent,
  });
}

/** A location with every option and setting; those that it was made without, being older than they are, at their default. */
export function showDetails({ settingsId, settings, options, ...location }: LocationRow) {
  return {
    ...location,
    ...defaultLocationOptions,
    ...options,
    locationSettings: { id: settingsId, ...defaultLocationSettings, ...settings },
  };
}

/** The header of a location's tickets. Where the establishment has no name of its own, it is the location's. */
export function showHeader({ id, settings }: Pick<LocationRow, "id" | "settings">): LocationHeader {
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
export function demandReadable(principal: Principal, id: string): void {
  const only = readableLocation(principal);
  if (only !== null && only !== id.toLowerCase()) throw locationNotFound(id);
}

export function locationNotFound(id: string): ApiError {
  return new ApiError("location_not_found", { detail: `There is no location ${id}.` });
}

/** Makes a location with its options and settings, and its `location.updated` event; gives its id. */
export async function createLocation(
  { db }: Pick<Accounts, "db">,
  { location, context }: { location: CreateLocation; context: RequestContext },
): Promise<string> {
  const { application, organizationId, agencyId, locationSettings: settings, ...options } = location;
  return db.transaction(async (tx) => {
    const made = await insertLocation(tx, {
      id: randomUUID(),
      application,
      legacyId: null,
      organizationId,
      agencyId,
      options,
      settingsId: randomUUID(),
      settings,
    });
    if (!made) throw new Error("A location without a legacyId cannot be in another's place.");
    await publishLocation(tx, made, context.traceparent);
    return made.id;
  });
}

/**
 * Takes over a location of a legacy backoffice, with every option and setting at its default and no name yet. The same
 * location again is the one that is there.
 *
 * @throws `ApiError` location_exists when the legacyId is there already, of another organization or agency.
 */
export async function importLocation(
  { db }: Pick<Accounts, "db">,
  { location, context }: { location: ImportLocation; context: RequestContext },
): Promise<{ id: string; isNew: boolean }> {
  const { organizationId, agencyId } = location;
  return db.transaction(async (tx) => {
    const made = await insertLocation(tx, {
      ...location,
      id: randomUUID(),
      options: defaultLocationOptions,
      settingsId: randomUUID(),
      settings: defaultLocationSettings,
    });
    if (made) {
      await publishLocation(tx, made, context.traceparent);
      return { id: made.id, isNew: true };
    }
    const known = await locationOwner(tx, location);
    if (known?.organizationId === organizationId && known.agencyId === agencyId) return { id: known.id, isNew: false };
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
  { db }: Pick<Accounts, "db">,
  { id, change, context }: { id: string; change: ChangeLocation; context: RequestContext },
): Promise<LocationRow> {
  const { organizationId, agencyId, locationSettings = {}, ...options } = change;
  return db.transaction(async (tx) => {
    const location = await locationForUpdate(tx, id);
    if (!location) throw locationNotFound(id);
    const changed = await updateLocation(tx, {
      id,
      organizationId: organizationId ?? location.organizationId,
      agencyId: agencyId ?? location.agencyId,
      options: { ...location.options, ...given(options) },
      settings: { ...location.settings, ...given(locationSettings) },
    });
    await publishLocation(tx, changed, context.traceparent);
    return changed;
  });
}

/** The fields that were given: those that are undefined are left out. */
type Given<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

function given<Fields extends object>(fields: Fields): Given<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<Fields>;
}
