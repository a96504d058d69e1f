import type { LocationFacts } from "@pragma/contracts/account-lookups";
import type { Principal } from "@pragma/contracts/principal";
import { ownLocation } from "@pragma/runtime/own-location";
import type { Locations } from "./locations.ts";

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
