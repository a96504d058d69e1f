import type { DeclarantSettings } from "@pragma/contracts/e-reporting";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { getReadRestrictionLocationId } from "@pragma/runtime/service-calls/location-lookup";
import { findDeclarant, type StoredDeclarant, type StoredSettings } from "./queries/declarants.ts";
import { type LocationOfSiren, listLocationsOfSiren } from "./queries/figures.ts";

/** The locations of a business. */
export interface LocationsOfBusiness {
  locations: LocationOfSiren[];
  /** The number of others whose tills state its SIREN, and that its settings leave out. */
  otherLocationCount: number;
}

/**
 * Returns the locations of a business: those that its settings name and whose tills state its SIREN. Any till can state any
 * SIREN, also that of somebody else.
 */
export async function listLocationsOfBusiness(
  sql: SqlClient | SqlTransaction,
  siren: string,
  { locationIds }: StoredSettings,
): Promise<LocationsOfBusiness> {
  const found = await listLocationsOfSiren(sql, siren);
  const locations = found.filter(({ locationId }) => locationIds.includes(locationId));
  return { locations, otherLocationCount: found.length - locations.length };
}

/**
 * Checks that a key may handle a business. All of its locations are reported together, so that a key of one location may
 * only handle a business that has no other.
 *
 * @throws `ApiError` declarant_not_found if the settings leave the location out, location_forbidden if there are others
 */
function requireOwnBusiness(restriction: string | null, siren: string, locationIds: readonly string[]): void {
  if (restriction === null) return;
  if (!locationIds.includes(restriction))
    throw new ApiError("declarant_not_found", {
      detail: `No till of this API key's location has a SIRET that begins with ${siren}, or the settings of the business leave the location out.`,
    });
  if (locationIds.length > 1)
    throw new ApiError("location_forbidden", {
      detail: `The business ${siren} has other locations. All are reported together, which requires a key with the scope \`locations:any\`.`,
    });
}

export type Declarant = StoredDeclarant & LocationsOfBusiness;

/** Returns a business with its settings. @throws `ApiError` as `requireBusiness`, and declarant_not_found without settings */
export async function requireDeclarant(
  sql: SqlClient | SqlTransaction,
  principal: Principal,
  siren: string,
): Promise<Declarant> {
  const declarant = await findDeclarant(sql, siren);
  const restriction = getReadRestrictionLocationId(principal);
  if (declarant) requireOwnBusiness(restriction, siren, declarant.settings.locationIds);
  else {
    const stating = toIds(await listLocationsOfSiren(sql, siren));
    if (restriction !== null && !stating.includes(restriction)) requireOwnBusiness(restriction, siren, []);
    throw new ApiError("declarant_not_found", {
      detail: `The business ${siren} has no settings. Create them with PUT /v1/e-reporting/declarants/${siren}.`,
    });
  }
  return { ...declarant, ...(await listLocationsOfBusiness(sql, siren, declarant.settings)) };
}

/**
 * Returns the settings that a request stores, always with the locations of the business, so that a location whose tills
 * state the SIREN later belongs to it only if a key for all locations adds it.
 *
 * @throws `ApiError` declarant_not_found; location_forbidden
 */
export async function resolveSettings(
  tx: SqlTransaction,
  principal: Principal,
  { siren, settings }: { siren: string; settings: DeclarantSettings },
): Promise<StoredSettings> {
  const restriction = getReadRestrictionLocationId(principal);
  const stored = (await findDeclarant(tx, siren))?.settings.locationIds;
  const stating = toIds(await listLocationsOfSiren(tx, siren));
  // Without settings, a key of one location sets up a business of this location only, whatever tills of others state.
  const isOwn = stored === undefined && restriction !== null && stating.includes(restriction);
  const present = stored ?? (isOwn ? [restriction] : stating);
  requireOwnBusiness(restriction, siren, present);
  const named = settings.locationIds?.map((id) => id.toLowerCase());
  const locationIds = [...new Set(named ?? present)];
  requireOwnBusiness(restriction, siren, locationIds);
  return { ...settings, locationIds };
}

const toIds = (locations: readonly LocationOfSiren[]) => locations.map(({ locationId }) => locationId);
