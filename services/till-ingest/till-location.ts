import { ApiError } from "@pragma/contracts/errors";
import type { LocationFacts, Principal } from "@pragma/contracts/principal";
import { allows } from "@pragma/contracts/scopes";
import type { Locations } from "@pragma/runtime/locations";
import { readableLocation } from "@pragma/runtime/locations";
import type { RequestContext } from "@pragma/runtime/request-context";
import { findTill, type TillRow } from "./queries/tills.ts";
import type { LegacyLocation, TillFacts } from "./read-till.ts";
import type { TillIngest } from "./till-ingest.ts";

/**
 * The location of a V1 till: the one that its application and legacy id name, which must be the key's own unless the
 * key may act for any.
 *
 * @throws `ApiError` location_forbidden, location_not_found.
 */
export async function legacyLocation(
  { location: own, scopes }: Principal,
  { application, legacyId }: LegacyLocation,
  locations: Locations,
  context: RequestContext,
): Promise<LocationFacts> {
  if (own?.application === application && own.legacyId === legacyId) return own;
  if (allows(scopes, "locations:any")) return locations.byLegacyId(application, legacyId, context);
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
export async function replacedLocation(
  principal: Principal,
  facts: TillFacts,
  { db, locations }: Pick<TillIngest, "db" | "locations">,
  context: RequestContext,
): Promise<LocationFacts> {
  if (facts.format === "V1") return legacyLocation(principal, facts.legacyLocation, locations, context);
  const till = await findTill(db.sql, facts.tillId);
  if (till && till.locationId === principal.location?.id) return principal.location;
  if (till && allows(principal.scopes, "locations:any")) return locations.byId(till.locationId, context);
  throw new ApiError("till_not_found", { detail: `This location has no till ${facts.tillId} to replace: push it.` });
}

/**
 * The till of this id, as far as the key may know of it.
 *
 * @throws `ApiError` till_not_found, also for a till of another location.
 */
export async function knownTill(
  { db }: Pick<TillIngest, "db">,
  { id, principal }: { id: string; principal: Principal },
): Promise<TillRow> {
  const only = readableLocation(principal);
  const till = await findTill(db.sql, id);
  if (!till || (only !== null && till.locationId !== only)) throw tillNotFound(id);
  return till;
}

export function tillNotFound(id: string): ApiError {
  return new ApiError("till_not_found", { detail: `This location has no till ${id}.` });
}
