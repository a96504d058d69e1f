import type { LocationFacts } from "@pragma/contracts/account-lookups";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { allows } from "@pragma/contracts/scopes";
import { ownLocation } from "@pragma/runtime/own-location";
import type { Locations } from "./locations.ts";
import type { LegacyLocation } from "./till-facts.ts";

/**
 * The location of a V2 till: the one that the query names, or else the key's own, whose facts the principal carries.
 *
 * @throws `ApiError` location_forbidden, location_not_found, invalid_request (a key without location that names none).
 */
export async function namedLocation(
  principal: Principal,
  asked: string | undefined,
  locations: Locations,
): Promise<LocationFacts> {
  const id = ownLocation(principal, asked);
  return principal.location?.id === id ? principal.location : locations.byId(id);
}

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
): Promise<LocationFacts> {
  if (own?.application === application && own.legacyId === legacyId) return own;
  if (allows(scopes, "locations:any")) return locations.byLegacyId(application, legacyId);
  throw new ApiError("location_forbidden", {
    detail: "application and legacyId must be those of the API key's location.",
  });
}
