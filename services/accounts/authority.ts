import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { allows, type Scope } from "@pragma/contracts/scopes";

/**
 * A key hands on no more than it has: it makes keys only for consumers, and changes only consumers, whose scopes are
 * all its own. Else a key that may manage keys could make itself one that may do anything.
 *
 * @throws `ApiError` scope_missing that names the scopes it lacks.
 */
export function demandAllScopes(principal: Principal, scopes: readonly Scope[]): void {
  const missing = [...new Set(scopes)].filter((scope) => !allows(principal.scopes, scope));
  if (missing.length === 0) return;
  throw new ApiError("scope_missing", {
    detail: `A key manages only consumers that may do no more than itself; this one lacks: ${missing.join(", ")}.`,
  });
}

/** Refuses with location_forbidden what only a key for any location may do. */
export function demandAnyLocation(principal: Principal, detail: string): void {
  if (!allows(principal.scopes, "locations:any")) throw new ApiError("location_forbidden", { detail });
}
