import { ApiError } from "@pragma/contracts/errors";
import type { LocationRef, Principal } from "@pragma/contracts/principal";
import { hasScope } from "@pragma/contracts/scopes";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import {
  getReadRestrictionLocationId,
  type LocationLookupClient,
  resolveRequestedLocation,
} from "@pragma/runtime/service-calls/location-lookup";
import type { TillIngestServiceContext } from "./context.ts";
import { findTillLocationId } from "./queries/till-directory.ts";
import { findTillRow, type TillRow } from "./queries/tills.ts";
import type { LegacyLocationIdentity, TillMetadata } from "./validation/parse-till-body.ts";

/**
 * Returns the location with the application and legacy id of a V1 till. It must be the location of the API key, unless
 * the key may act for any location.
 *
 * @throws `ApiError` location_forbidden, location_not_found.
 */
export async function resolveLegacyLocation(
  { location: own, scopes }: Principal,
  { application, legacyId }: LegacyLocationIdentity,
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
 * Returns the location of a till that is pushed: that which the body of a V1 till states, or the requested location of a
 * V2 till.
 *
 * @throws `ApiError` location_forbidden, location_not_found, invalid_request.
 */
export async function resolvePushedLocation(
  principal: Principal,
  { legacyLocation }: TillMetadata,
  requestedId: string | undefined,
  { locations }: Pick<TillIngestServiceContext, "locations">,
  context: ObservabilityContext,
): Promise<LocationRef> {
  return legacyLocation
    ? resolveLegacyLocation(principal, legacyLocation, locations, context)
    : resolveRequestedLocation(principal, requestedId, locations, context);
}

/**
 * Returns the location of a till that a request replaces. The body of a V1 till identifies the location. For a V2
 * till, it is the location that has the till. The API key must be allowed to act for the location.
 *
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

/**
 * Returns the till with this id if the API key may read it.
 *
 * @throws `ApiError` till_not_found, also for a till of another location.
 */
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
