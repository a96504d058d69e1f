import type { RateLimit } from "@pragma/contracts/consumer";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { allows, type Scope } from "@pragma/contracts/scopes";
import type { Transaction } from "@pragma/runtime/postgres";
import type { Accounts } from "./accounts.ts";
import { rateLimitOfKey } from "./queries/consumers.ts";

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

interface Caller {
  principal: Principal;
  defaultRateLimit: Accounts["defaultRateLimit"];
}

/** The rate limit beyond which a key may give none: its own, or null for `admin`, which may give any. */
export async function maxRateLimit(
  tx: Transaction,
  { principal, defaultRateLimit }: Caller,
): Promise<RateLimit | null> {
  if (allows(principal.scopes, "admin")) return null;
  return (await rateLimitOfKey(tx, principal.keyId)) ?? defaultRateLimit;
}

/**
 * Refuses when one of these rate limits, null being the default, is higher than the caller's own.
 *
 * @throws `ApiError` rate_limit_forbidden.
 */
export async function requireNoHigherLimit(
  tx: Transaction,
  caller: Caller,
  limits: readonly (RateLimit | null)[],
): Promise<void> {
  const maximum = await maxRateLimit(tx, caller);
  if (!maximum || !limits.some((limit) => isHigher(limit ?? caller.defaultRateLimit, maximum))) return;
  throw new ApiError("rate_limit_forbidden", {
    detail: `A key manages only consumers whose rate limit is no higher than its own, which is ${maximum.perSecond} requests a second and ${maximum.burst} at once.`,
  });
}

/** Whether a rate limit allows more requests than another, in either number. */
export function isHigher(limit: RateLimit, than: RateLimit): boolean {
  return limit.perSecond > than.perSecond || limit.burst > than.burst;
}

/** Refuses with location_forbidden what only a key for any location may do. */
export function demandAnyLocation(principal: Principal, detail: string): void {
  if (!allows(principal.scopes, "locations:any")) throw new ApiError("location_forbidden", { detail });
}
