import type { LocationFacts } from "@pragma/contracts/account-lookups";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { allows } from "@pragma/contracts/scopes";
import type { Locations } from "@pragma/runtime/locations";
import type { LegacyLocation } from "./till-facts.ts";

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
