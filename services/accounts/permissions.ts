import type { RateLimit } from "@pragma/contracts/api-consumer";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { hasScope, type Scope } from "@pragma/contracts/scopes";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import type { AccountsContext } from "./context.ts";
import { findRateLimitOfKey } from "./queries/consumers.ts";

/**
 * A key hands on no more than it has: it makes keys only for consumers, and changes only consumers, whose scopes are
 * all its own. Else a key that may manage keys could make itself one that may do anything.
 *
 * @throws `ApiError` scope_missing that names the scopes it lacks.
 */
export function requireAllScopes(principal: Principal, scopes: readonly Scope[]): void {
  const missing = [...new Set(scopes)].filter((scope) => !hasScope(principal.scopes, scope));
  if (missing.length === 0) return;
  throw new ApiError("scope_missing", {
    detail: `A key manages only consumers that may do no more than itself; this one lacks: ${missing.join(", ")}.`,
  });
}

interface Grantor {
  principal: Principal;
  defaultRateLimit: AccountsContext["defaultRateLimit"];
}

/** The rate limit beyond which a key may give none: its own, or null for `admin`, which may give any. */
export async function maxGrantableRateLimit(
  tx: SqlTransaction,
  { principal, defaultRateLimit }: Grantor,
): Promise<RateLimit | null> {
  if (hasScope(principal.scopes, "admin")) return null;
  return (await findRateLimitOfKey(tx, principal.keyId)) ?? defaultRateLimit;
}

/**
 * Refuses when one of these rate limits, null being the default, is higher than the caller's own.
 *
 * @throws `ApiError` rate_limit_forbidden.
 */
export async function requireGrantableRateLimits(
  tx: SqlTransaction,
  grantor: Grantor,
  limits: readonly (RateLimit | null)[],
): Promise<void> {
  const maximum = await maxGrantableRateLimit(tx, grantor);
  if (!maximum || !limits.some((limit) => isHigherRateLimit(limit ?? grantor.defaultRateLimit, maximum))) return;
  throw new ApiError("rate_limit_forbidden", {
    detail: `A key manages only consumers whose rate limit is no higher than its own, which is ${maximum.perSecond} requests a second and ${maximum.burst} at once.`,
  });
}

/** Whether a rate limit allows more requests than another, in either number. */
export function isHigherRateLimit(limit: RateLimit, other: RateLimit): boolean {
  return limit.perSecond > other.perSecond || limit.burst > other.burst;
}

/** Refuses with location_forbidden what only a key for any location may do. */
export function requireAnyLocationScope(principal: Principal, detail: string): void {
  if (!hasScope(principal.scopes, "locations:any")) throw new ApiError("location_forbidden", { detail });
}
