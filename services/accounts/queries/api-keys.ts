import type { CurrentApiKey, RateLimit } from "@pragma/contracts/api-consumer";
import { defaultLocationPosOptions } from "@pragma/contracts/location-settings";
import type { ApiScope } from "@pragma/contracts/scopes";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { AccountsServiceContext, ApiEntityRowWithDates } from "../context.ts";
import { locationName } from "./locations.ts";

export interface NewApiKeyRow {
  id: string;
  hash: string;
  prefix: string;
  consumerId: string;
  locationId: string | null;
  createdFrom: "request" | "first start" | "environment";
  /** The id of the key that creates this key; null if it is created at the start of the service. */
  createdBy: string | null;
  expiresAt: Date | null;
}

export type ApiKeyEventFields = Pick<NewApiKeyRow, "id" | "hash" | "locationId">;

interface LockedApiKey extends ApiKeyEventFields {
  prefix: string;
  createdAt: Date;
  revokedAt: Date | null;
  /** The requested expiry, which does not depend on rotations. */
  expiresAt: Date | null;
  isActive: boolean;
  consumerId: string;
  consumerName: string;
  scopes: ApiScope[];
}

/** When a key stops working: at its expiry or, after a rotation, at the end of the overlap. */
export const effectiveExpiry = (sql: SqlClient | SqlTransaction) => sql`least(expires_at, overlap_ends_at)`;

/** Locks a key until the transaction ends, and returns the key with its consumer's scopes. */
export async function lockApiKey(
  tx: SqlTransaction,
  key: { id: string } | { hash: string },
): Promise<LockedApiKey | undefined> {
  const [row] = await tx<LockedApiKey[]>`
    select k.id, k.hash, k.prefix, k.location_id, k.created_at, k.revoked_at, k.expires_at,
      k.revoked_at is null and (${effectiveExpiry(tx)} <= now()) is not true as is_active,
      c.id as consumer_id, coalesce(c.display_name, c.name) as consumer_name, c.scopes
    from api_keys k join consumers c on c.id = k.consumer_id
    where ${"id" in key ? tx`k.id = ${key.id}` : tx`k.hash = ${key.hash}`} for update of k`;
  return row;
}

interface KeyLimits {
  consumerId: string;
  /** The requested expiry, which does not depend on rotations; null for never. */
  expiresAt: Date | null;
  /** Null for the default rate limit. */
  rateLimit: RateLimit | null;
}

/** Returns the consumer of a key, and what limits the keys that it may create. */
export async function findApiKeyLimits(tx: SqlTransaction, id: string): Promise<KeyLimits | undefined> {
  const [row] = await tx<KeyLimits[]>`
    select consumer_id, expires_at, c.rate_limit from api_keys k join consumers c on c.id = consumer_id
    where k.id = ${id}`;
  return row;
}

/** Revokes a key. `revokedBy` is the id of the key that revokes it. Returns the time of the revocation. */
export async function markApiKeyRevoked(
  tx: SqlTransaction,
  { id, revokedBy }: { id: string; revokedBy: string },
): Promise<Date> {
  const [row] = await tx<[{ revokedAt: Date }]>`
    update api_keys set revoked_at = now(), revoked_by = ${revokedBy} where id = ${id} returning revoked_at`;
  return row.revokedAt;
}

/** Ends the overlap of a rotated key after this number of seconds, unless it ends earlier. Returns when it expires. */
export async function limitApiKeyOverlap(
  tx: SqlTransaction,
  { id, seconds }: { id: string; seconds: number },
): Promise<Date> {
  const [row] = await tx<[{ expiresAt: Date }]>`
    update api_keys set overlap_ends_at = least(overlap_ends_at, now() + make_interval(secs => ${seconds}))
    where id = ${id}
    returning ${effectiveExpiry(tx)} as expires_at`;
  return row.expiresAt;
}

/** Returns what a key may do. `defaultRateLimit` is the rate limit of keys whose consumer has none of its own. */
export async function findCurrentApiKey(
  { db: { sql }, defaultRateLimit }: Pick<AccountsServiceContext, "db" | "defaultRateLimit">,
  id: string,
): Promise<ApiEntityRowWithDates<CurrentApiKey> | undefined> {
  const [key] = await sql<(ApiEntityRowWithDates<CurrentApiKey> & { rateLimit: RateLimit | null })[]>`
    select k.id, k.prefix, k.created_at, ${effectiveExpiry(sql)} as expires_at,
      json_build_object('id', c.id, 'name', coalesce(c.display_name, c.name)) as consumer, c.scopes, c.rate_limit,
      case when locations.id is not null then json_build_object(
        'id', locations.id, 'name', ${locationName(sql)}, 'application', locations.application,
        'timezone', locations.time_zone,
        'currencyCode', coalesce(locations.options ->> 'currencyCode', ${defaultLocationPosOptions.currencyCode}),
        'isSandbox', locations.is_sandbox
      ) end as location
    from api_keys k join consumers c on c.id = k.consumer_id left join locations on locations.id = k.location_id
    where k.id = ${id}`;
  return key && { ...key, rateLimit: key.rateLimit ?? defaultRateLimit };
}
