import { ApiError } from "@pragma/contracts/errors";
import type { LocationRef, Principal } from "@pragma/contracts/principal";
import { hasScope } from "@pragma/contracts/scopes";
import type { RequestContext } from "@pragma/runtime/observability/request-context";
import type { LocationLookup } from "@pragma/runtime/service-calls/location-lookup";
import { getReadableLocationId } from "@pragma/runtime/service-calls/location-lookup";
import type { TillIngestContext } from "./context.ts";
import { findTill, type TillRow } from "./queries/tills.ts";
import type { LegacyLocationId, TillMetadata } from "./validation/parse-till-body.ts";

/**
 * The location of a V1 till: the one that its application and legacy id name, which must be the key's own unless the
 * key may act for any.
 *
 * @throws `ApiError` location_forbidden, location_not_found.
 */
export async function resolveLegacyLocation(
  { location: own, scopes }: Principal,
  { application, legacyId }: LegacyLocationId,
  locations: LocationLookup,
  context: RequestContext,
): Promise<LocationRef> {
  if (own?.application === application && own.legacyId === legacyId) return own;
  if (hasScope(scopes, "locations:any")) return locations.getByLegacyId(application, legacyId, context);
  throw new ApiError("location_forbidden", {
    detail: "application and legacyId must be those of the API key's location.",
  });
}

/**
 * The location of a till that is to be replaced: for V1 the one that the body names, else the one that has the till, as
 * far as the key may act for it.
 *
 * @throws `ApiError` till_not_found, location_forbidden, location_not_found.
 */
export async function resolveReplacedTillLocation(
  principal: Principal,
  facts: TillMetadata,
  { db, locations }: Pick<TillIngestContext, "db" | "locations">,
  context: RequestContext,
): Promise<LocationRef> {
  if (facts.format === "V1") return resolveLegacyLocation(principal, facts.legacyLocation, locations, context);
  const till = await findTill(db.sql, facts.tillId);
  if (till && till.locationId === principal.location?.id) return principal.location;
  if (till && hasScope(principal.scopes, "locations:any")) return locations.getById(till.locationId, context);
  throw new ApiError("till_not_found", { detail: `This location has no till ${facts.tillId} to replace: push it.` });
}

/**
 * The till of this id, as far as the key may know of it.
 *
 * @throws `ApiError` till_not_found, also for a till of another location.
 */
export async function requireTill(
  { db }: Pick<TillIngestContext, "db">,
  { id, principal }: { id: string; principal: Principal },
): Promise<TillRow> {
  const only = getReadableLocationId(principal);
  const till = await findTill(db.sql, id);
  if (!till || (only !== null && till.locationId !== only)) throw tillNotFoundError(id);
  return till;
}

export function tillNotFoundError(id: string): ApiError {
  return new ApiError("till_not_found", { detail: `This location has no till ${id}.` });
}
