import type { DeclarantSettings } from "@pragma/contracts/e-reporting-declarant";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { buildSandboxCompanyNumbers } from "@pragma/contracts/siren";
import {
  type Database,
  lockInTransaction,
  type SqlClient,
  type SqlTransaction,
} from "@pragma/runtime/database/postgres";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import { getReadRestrictionLocationId } from "@pragma/runtime/service-calls/location-lookup";
import type { ReportingContext } from "../context.ts";
import { findDeclarant, type StoredDeclarant, type StoredSettings } from "./queries/declarants.ts";
import { type LocationOfSiren, listLocationsOfSiren } from "./queries/figures.ts";

/**
 * Makes changes of the settings of a business and transmissions wait for each other, because the settings decide about the
 * bounds of periods: otherwise, a day could be reported in two of them.
 */
export const lockBusiness = (tx: SqlTransaction, db: Database, siren: string): Promise<void> =>
  lockInTransaction(tx, db, `e-reporting ${siren}`);

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
 * @throws `ApiError` declarant_not_found if the location has nothing to do with it, location_forbidden if it has others
 */
function requireOwnBusiness(
  restriction: string | null,
  siren: string,
  { locationIds, stating }: { locationIds: readonly string[]; stating: readonly string[] },
): void {
  if (restriction === null) return;
  if (!locationIds.includes(restriction) && !stating.includes(restriction))
    throw new ApiError("declarant_not_found", {
      detail: `No till of this API key's location has a SIRET that begins with ${siren}.`,
    });
  if (!locationIds.includes(restriction))
    throw new ApiError("location_forbidden", {
      detail: `The business ${siren} has settings without this API key's location, although its tills state the SIREN. If the location belongs to the business, a key with the scope \`locations:any\` can add it to \`locationIds\`.`,
    });
  if (locationIds.length > 1)
    throw new ApiError("location_forbidden", {
      detail: `The business ${siren} has other locations. All are reported together, which requires a key with the scope \`locations:any\`.`,
    });
}

export type Declarant = StoredDeclarant & LocationsOfBusiness;

/** Returns a business with its settings. @throws `ApiError` as `requireOwnBusiness`, and declarant_not_found without settings */
export async function requireDeclarant(
  sql: SqlClient | SqlTransaction,
  principal: Principal,
  siren: string,
): Promise<Declarant> {
  const declarant = await findDeclarant(sql, siren);
  const restriction = getReadRestrictionLocationId(principal);
  const stating = toIds(await listLocationsOfSiren(sql, siren));
  if (declarant) requireOwnBusiness(restriction, siren, { locationIds: declarant.settings.locationIds, stating });
  else {
    if (restriction !== null && !stating.includes(restriction))
      requireOwnBusiness(restriction, siren, { locationIds: [], stating });
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
 * @throws `ApiError` declarant_not_found; location_forbidden; location_not_found
 */
export async function resolveSettings(
  { locations }: Pick<ReportingContext, "locations">,
  tx: SqlTransaction,
  { siren, settings, principal }: { siren: string; settings: DeclarantSettings; principal: Principal },
  context: ObservabilityContext,
): Promise<StoredSettings> {
  const restriction = getReadRestrictionLocationId(principal);
  if (restriction !== null && principal.location?.isSandbox) requireSandboxBusiness(siren, restriction);
  const stored = (await findDeclarant(tx, siren))?.settings.locationIds;
  const stating = toIds(await listLocationsOfSiren(tx, siren));
  const named = settings.locationIds?.map((id) => id.toLowerCase());
  const added = named?.filter((id) => !stored?.includes(id) && !stating.includes(id)) ?? [];
  if (restriction === null) await requireLocations(locations, added, context);
  async function listFirst(): Promise<string[]> {
    // Whatever later tills of others state, a key of one location sets up a business of this location only.
    if (restriction !== null)
      return stating.includes(restriction) ? [requireFirstLocation(siren, stating, restriction)] : stating;
    return named ?? omitSandboxes(locations, stating, context);
  }
  const present = stored ?? (await listFirst());
  requireOwnBusiness(restriction, siren, { locationIds: present, stating });
  const locationIds = [...new Set(named ?? present)];
  if (restriction !== null && locationIds.some((id) => id !== restriction))
    throw new ApiError("location_forbidden", {
      detail:
        "`locationIds` contains another location than that of this API key, which requires a key with the scope `locations:any`.",
    });
  if (locationIds.length === 0)
    throw new ApiError("declarant_not_found", {
      detail: `No till has a SIRET that begins with ${siren}. Push one first, or send \`locationIds\`.`,
    });
  return { ...settings, locationIds };
}

/**
 * Tills can state the SIREN of somebody else. Only the location whose tills stated it first can set up the business with a
 * key of its own. @throws `ApiError` location_forbidden
 */
function requireFirstLocation(siren: string, stating: readonly string[], locationId: string): string {
  if (stating[0] === locationId) return locationId;
  throw new ApiError("location_forbidden", {
    detail: `Tills of another location stated the SIREN ${siren} before those of this API key's location. All locations of a business are reported together: an operator, or a key with the scope \`locations:any\`, sets it up with its \`locationIds\`.`,
  });
}

/** Anyone can create a sandbox, and state the SIREN of any business in its tills. */
function requireSandboxBusiness(siren: string, locationId: string): void {
  const own = buildSandboxCompanyNumbers(locationId);
  if (siren !== own.siren)
    throw new ApiError("location_forbidden", {
      detail: `A sandbox can only set up its own fictional business, ${own.siren}. Its generated tills state the SIRET ${own.siretCode}.`,
    });
}

/** @throws `ApiError` location_not_found */
async function requireLocations(
  locations: ReportingContext["locations"],
  ids: readonly string[],
  context: ObservabilityContext,
): Promise<void> {
  for (let index = 0; index < ids.length; index += lookedUpAtATime)
    await Promise.all(ids.slice(index, index + lookedUpAtATime).map((id) => locations.getById(id, context)));
}

/** The locations that are looked up at a time. */
const lookedUpAtATime = 8;

/** Returns those of the locations that are not sandboxes and still exist. */
async function omitSandboxes(
  locations: ReportingContext["locations"],
  ids: readonly string[],
  context: ObservabilityContext,
): Promise<string[]> {
  const isReal = async (id: string) => {
    try {
      return !(await locations.getById(id, context)).isSandbox;
    } catch (error) {
      if (error instanceof ApiError && error.code === "location_not_found") return false;
      throw error;
    }
  };
  const real: string[] = [];
  for (let index = 0; index < ids.length; index += lookedUpAtATime) {
    const group = ids.slice(index, index + lookedUpAtATime);
    const found = await Promise.all(group.map(isReal));
    real.push(...group.filter((_, place) => found[place]));
  }
  return real;
}

const toIds = (locations: readonly LocationOfSiren[]) => locations.map(({ locationId }) => locationId);
