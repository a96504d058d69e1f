import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { allows } from "@pragma/contracts/scopes";
import { invalidRequest } from "./faults.ts";

/**
 * The location that a request is about: the one it names, or else the key's own.
 *
 * @throws `ApiError` location_forbidden when it names another than the key's own without `locations:any`;
 * invalid_request when it names none and the key has none.
 */
export function ownLocation(principal: Principal, asked: string | undefined): string {
  const own = principal.location?.id;
  const wanted = asked?.toLowerCase() ?? own;
  if (wanted === undefined) {
    const message = "is required: this key belongs to no location, so name one";
    throw invalidRequest([{ in: "query", path: "locationId", code: "required", message }]);
  }
  if (wanted !== own && !allows(principal.scopes, "locations:any")) {
    throw new ApiError("location_forbidden", {
      detail: "locationId must be the location of the API key, or be left out.",
    });
  }
  return wanted;
}

/** The one location whose things a key may read by id; null when it may read those of any. */
export function readableLocation(principal: Principal): string | null {
  if (allows(principal.scopes, "locations:any")) return null;
  if (!principal.location) throw new ApiError("location_forbidden", { detail: "This API key belongs to no location." });
  return principal.location.id;
}
