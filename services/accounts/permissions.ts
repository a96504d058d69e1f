import type { RateLimit } from "@pragma/contracts/api-consumer";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { type ApiScope, hasScope } from "@pragma/contracts/scopes";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import {
  getReadRestrictionLocationId,
  resolveAuthorizedLocationId,
} from "@pragma/runtime/service-calls/location-lookup";
import type { AccountsServiceContext } from "./context.ts";
import { findApiKeyLimits } from "./queries/api-keys.ts";

/** Checks the scopes that a principal grants, which it must have. @throws `ApiError` scope_missing. */
export function requireScopesToGrant(principal: Principal, scopes: readonly ApiScope[]): void {
  const missing = [...new Set(scopes)].filter((scope) => !hasScope(principal.scopes, scope));
  if (missing.length === 0) return;
  throw new ApiError("scope_missing", {
    detail: `An API key can manage only consumers whose scopes it has itself. This key lacks: ${missing.join(", ")}.`,
  });
}

interface Grantor {
  principal: Principal;
  defaultRateLimit: AccountsServiceContext["defaultRateLimit"];
}

/** Returns the maximum rate limit that a principal may grant, which is its own; null (no maximum) for an admin. */
export async function findMaxGrantableRateLimit(
  tx: SqlTransaction,
  { principal, defaultRateLimit }: Grantor,
): Promise<RateLimit | null> {
  if (hasScope(principal.scopes, "admin")) return null;
  return (await findApiKeyLimits(tx, principal.keyId))?.rateLimit ?? defaultRateLimit;
}

/** Checks that no rate limit (null: default) exceeds that of the principal. @throws `ApiError` rate_limit_forbidden. */
export async function requireGrantableRateLimits(
  tx: SqlTransaction,
  grantor: Grantor,
  limits: readonly (RateLimit | null)[],
): Promise<void> {
  const maximum = await findMaxGrantableRateLimit(tx, grantor);
  if (!maximum || !limits.some((limit) => isHigherRateLimit(limit ?? grantor.defaultRateLimit, maximum))) return;
  throw new ApiError("rate_limit_forbidden", {
    detail: `An API key can manage only consumers whose rate limit does not exceed its own, which is ${maximum.perSecond} requests per second with bursts of up to ${maximum.burst} requests.`,
  });
}

/**
 * Returns the latest expiry of a new key, which must not outlive an expiring creator; null if the principal may give
 * any.
 */
export async function findLatestGrantableExpiry(
  tx: SqlTransaction,
  { principal, isOwnSuccessor }: { principal: Principal; isOwnSuccessor: boolean },
): Promise<Date | null> {
  if (!isOwnSuccessor && hasScope(principal.scopes, "locations:any")) return null;
  return (await findApiKeyLimits(tx, principal.keyId))?.expiresAt ?? null;
}

export function isHigherRateLimit(limit: RateLimit, other: RateLimit): boolean {
  return limit.perSecond > other.perSecond || limit.burst > other.burst;
}

/** Checks that a principal has the scope `locations:any`. @throws `ApiError` location_forbidden with this detail. */
export function requireAccessToAllLocations(principal: Principal, detail: string): void {
  if (!hasScope(principal.scopes, "locations:any")) throw new ApiError("location_forbidden", { detail });
}

/** Returns the requested or the only readable location; null for all of them. @throws `ApiError` location_forbidden. */
export function resolveListedLocationId(principal: Principal, requestedId: string | undefined): string | null {
  return requestedId === undefined
    ? getReadRestrictionLocationId(principal)
    : resolveAuthorizedLocationId(principal, requestedId);
}
