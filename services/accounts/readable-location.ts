import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { readableLocation } from "@pragma/runtime/own-location";

/** Refuses with location_not_found the location that is another's: to this key it is not there. */
export function demandReadable(principal: Principal, id: string): void {
  const only = readableLocation(principal);
  if (only !== null && only !== id.toLowerCase()) throw locationNotFound(id);
}

export function locationNotFound(id: string): ApiError {
  return new ApiError("location_not_found", { detail: `There is no location ${id}.` });
}
