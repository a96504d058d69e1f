import { ApiError } from "@pragma/contracts/errors";
import type { LocationRef, Principal } from "@pragma/contracts/principal";
import { hasScope } from "@pragma/contracts/scopes";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import { getReadRestrictionLocationId, type LocationLookupClient } from "@pragma/runtime/service-calls/location-lookup";
import type { TillIngestServiceContext } from "./context.ts";
import { findTillLocationId, findTillRow, type TillRow } from "./queries/tills.ts";
import type { TillMetadata } from "./validation/parse-till-body.ts";

/** Returns the result of a lookup of a location; undefined if the location does not exist. */
export const ignoreMissingLocation = <Result>(lookup: Promise<Result>): Promise<Result | undefined> =>
  lookup.catch((error: unknown) => {
    if (error instanceof ApiError && error.code === "location_not_found") return undefined;
    throw error;
  });

/** Returns the location that a V1 till states. @throws `ApiError` location_forbidden, location_not_found. */
export async function resolveLegacyLocation(
  { location: own, scopes }: Principal,
  { application, legacyId }: NonNullable<TillMetadata["legacyLocation"]>,
  locations: LocationLookupClient,
  context: ObservabilityContext,
): Promise<LocationRef> {
  if (own?.application === application && own.legacyId === legacyId) return own;
  if (hasScope(scopes, "locations:any")) return locations.getByLegacyId(application, legacyId, context);
  throw new ApiError("location_forbidden", {
    detail: "`application` and `legacyId` must match the API key's location.",
  });
}

/**
 * Returns the location that a V1 till states, or that has the V2 till. The API key must be allowed to act for it.
 * @throws `ApiError` till_not_found, location_forbidden, location_not_found.
 */
export async function resolveReplacedLocation(
  principal: Principal,
  { legacyLocation, tillId }: TillMetadata,
  { db, locations }: Pick<TillIngestServiceContext, "db" | "locations">,
  context: ObservabilityContext,
): Promise<LocationRef> {
  if (legacyLocation) return resolveLegacyLocation(principal, legacyLocation, locations, context);
  const locationId = await findTillLocationId(db, tillId);
  if (locationId !== undefined && locationId === principal.location?.id) return principal.location;
  if (locationId !== undefined && hasScope(principal.scopes, "locations:any"))
    return locations.getById(locationId, context);
  throw createReplacedTillNotFoundError(tillId);
}

/** Returns the till with this id. @throws `ApiError` till_not_found, also for a till that the API key may not read. */
export async function requireReadableTill(
  { db }: Pick<TillIngestServiceContext, "db">,
  { id, principal }: { id: string; principal: Principal },
): Promise<TillRow> {
  const locationId = getReadRestrictionLocationId(principal) ?? (await findTillLocationId(db, id));
  const till = locationId === undefined ? undefined : await findTillRow(db.sql, { locationId, id });
  if (!till) throw createTillNotFoundError(id);
  return till;
}

export function createTillNotFoundError(id: string): ApiError {
  return new ApiError("till_not_found", { detail: `This location has no till ${id}.` });
}

export function createReplacedTillNotFoundError(id: string): ApiError {
  return new ApiError("till_not_found", {
    detail: `This location has no till ${id} to replace. Push the till instead.`,
  });
}
