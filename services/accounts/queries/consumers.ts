import type { ApiConsumer, RateLimit } from "@pragma/contracts/api-consumer";
import type { LocationRef, ResolvedKey } from "@pragma/contracts/principal";
import type { Scope } from "@pragma/contracts/scopes";
import type { Database, SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { EntityRow } from "../context.ts";

type ConsumerRow = EntityRow<ApiConsumer>;

const consumerColumns = (sql: SqlClient | SqlTransaction) => sql`
  id, created_at, updated_at, location_id, coalesce(given_name, name) as name, scopes, rate_limit`;

/**
 * Those that this location created. One that another location has keys of, as earlier versions allowed, is left to
 * the operators, since to change it would change what that location's keys may do.
 */
const isCreatedByLocation = (sql: SqlClient | SqlTransaction, locationId: string) => sql`
  location_id = ${locationId} and not exists (
    select 1 from api_keys where consumer_id = consumers.id and api_keys.location_id is distinct from ${locationId}
  )`;

type NewConsumer = Omit<ConsumerRow, "createdAt" | "updatedAt">;

/** Adds a consumer of a location, or of the operators; undefined, and nothing is added, when its name is taken there. */
export async function insertConsumer(
  tx: SqlTransaction,
  { id, name, scopes, rateLimit, locationId }: NewConsumer,
): Promise<ConsumerRow | undefined> {
  const names = locationId === null ? { name, givenName: null } : { name: `${locationId}:${name}`, givenName: name };
  const row = { id, ...names, scopes, rateLimit: rateLimit && tx.json(rateLimit), locationId };
  const [inserted] = await tx<ConsumerRow[]>`
    insert into consumers ${tx(row)} on conflict do nothing returning ${consumerColumns(tx)}`;
  return inserted;
}

/**
 * The consumer to change, kept from other changes and from new keys until the transaction ends. With a location,
 * undefined when that did not create it.
 */
export async function lockConsumer(
  tx: SqlTransaction,
  { id, locationId }: { id: string; locationId: string | null },
): Promise<ConsumerRow | undefined> {
  const isVisible = locationId === null ? tx`true` : isCreatedByLocation(tx, locationId);
  const [row] = await tx<ConsumerRow[]>`
    select ${consumerColumns(tx)} from consumers where id = ${id} and ${isVisible} for update`;
  return row;
}

/** The operators' consumer of this name, whose scopes stay as they are until the transaction ends. */
export async function findOperatorConsumer(tx: SqlTransaction, name: string): Promise<ConsumerRow | undefined> {
  const [row] = await tx<ConsumerRow[]>`
    select ${consumerColumns(tx)} from consumers where name = ${name} and location_id is null for share`;
  return row;
}

/** The consumer of this name that a location created, whose scopes stay as they are until the transaction ends. */
export async function findLocationConsumer(
  tx: SqlTransaction,
  { name, locationId }: { name: string; locationId: string },
): Promise<ConsumerRow | undefined> {
  const [row] = await tx<ConsumerRow[]>`
    select ${consumerColumns(tx)} from consumers
    where coalesce(given_name, name) = ${name} and ${isCreatedByLocation(tx, locationId)} for share`;
  return row;
}

type ConsumerPermissions = Pick<ConsumerRow, "id" | "scopes" | "rateLimit">;

export async function updateConsumer(
  tx: SqlTransaction,
  { id, scopes, rateLimit }: ConsumerPermissions,
): Promise<ConsumerRow> {
  const [row] = await tx<[ConsumerRow]>`
    update consumers set scopes = ${scopes}, rate_limit = ${rateLimit && tx.json(rateLimit)}, updated_at = now()
    where id = ${id}
    returning ${consumerColumns(tx)}`;
  return row;
}

/** The list of the consumers: with a location, of those that it created. */
export const consumerListQuery = (sql: SqlClient, locationId: string | null) => ({
  columns: consumerColumns(sql),
  table: sql`consumers`,
  where: locationId === null ? sql`true` : isCreatedByLocation(sql, locationId),
});

export interface NewApiKey {
  id: string;
  hash: string;
  prefix: string;
  consumerId: string;
  locationId: string | null;
  madeFrom: "request" | "first start" | "environment";
}

export async function insertApiKey(tx: SqlTransaction, key: NewApiKey): Promise<void> {
  await tx`insert into api_keys ${tx(key)}`;
}

/** What a change of a key tells others. */
export interface ApiKeyRef {
  id: string;
  hash: string;
  locationId: string | null;
}

interface RevocableApiKey extends ApiKeyRef {
  revokedAt: Date | null;
  scopes: Scope[];
}

/** The key to revoke, with its consumer's scopes, kept from other changes until the transaction ends. */
export async function lockApiKey(tx: SqlTransaction, id: string): Promise<RevocableApiKey | undefined> {
  const [row] = await tx<RevocableApiKey[]>`
    select k.id, k.hash, k.location_id, k.revoked_at, c.scopes
    from api_keys k join consumers c on c.id = k.consumer_id
    where k.id = ${id} for update of k`;
  return row;
}

export async function markApiKeyRevoked(tx: SqlTransaction, id: string): Promise<void> {
  await tx`update api_keys set revoked_at = now() where id = ${id}`;
}

/** The keys of a consumer that are good, none of which is revoked until the transaction ends. */
export async function listActiveApiKeys(tx: SqlTransaction, consumerId: string): Promise<ApiKeyRef[]> {
  return tx<ApiKeyRef[]>`
    select id, hash, location_id from api_keys
    where consumer_id = ${consumerId} and revoked_at is null order by id for share`;
}

/** The list of the keys of a location; of any, and of none, when that is null. */
export const apiKeyListQuery = (sql: SqlClient, locationId: string | null) => ({
  columns: sql`
    id, prefix, (select coalesce(given_name, name) from consumers where id = consumer_id) as consumer_name, location_id,
    created_at, last_used_at, revoked_at`,
  table: sql`api_keys`,
  where: locationId === null ? sql`true` : sql`location_id = ${locationId}`,
});

interface ResolvedKeyRow extends EntityRow<ResolvedKey> {
  lastUsedAt: Date | null;
}

/** What the key of this hash stands for, revoked or not. */
export async function resolveApiKey({ sql }: Database, hash: string): Promise<ResolvedKeyRow | undefined> {
  const [row] = await sql<(Omit<ResolvedKeyRow, "location"> & NullableLocationRef)[]>`
    select k.id as key_id, c.name as consumer, c.scopes, c.rate_limit, k.revoked_at, k.last_used_at,
      l.id as location_id, l.application, l.legacy_id, l.time_zone
    from api_keys k join consumers c on c.id = k.consumer_id left join locations l on l.id = k.location_id
    where k.hash = ${hash}`;
  if (!row) return undefined;
  const { locationId: id, application, legacyId, timeZone, ...key } = row;
  return { ...key, location: id === null ? null : { id, application, legacyId, timeZone } };
}

/** The columns of the key's location, all null when it has none. */
type NullableLocationRef = Omit<LocationRef, "id"> & { locationId: string | null };

/** Notes that a key is in use, unless that was noted within the last minute, or the key is just being changed. */
export async function recordApiKeyUse({ sql }: Database, id: string): Promise<void> {
  await sql`
    update api_keys set last_used_at = now() where id = (
      select id from api_keys
      where id = ${id} and (last_used_at is null or last_used_at < now() - interval '1 minute')
      for no key update skip locked
    )`;
}

/** The rate limit of a key's consumer; null when it has none of its own, or there is no such key. */
export async function findRateLimitOfKey(tx: SqlTransaction, id: string): Promise<RateLimit | null> {
  const [row] = await tx<{ rateLimit: RateLimit | null }[]>`
    select c.rate_limit from api_keys k join consumers c on c.id = k.consumer_id where k.id = ${id}`;
  return row?.rateLimit ?? null;
}

interface ApiKeyOwner extends ApiKeyRef {
  consumerId: string;
  isRevoked: boolean;
}

export async function findApiKeyByHash(tx: SqlTransaction, hash: string): Promise<ApiKeyOwner | undefined> {
  const [row] = await tx<ApiKeyOwner[]>`
    select id, hash, location_id, consumer_id, revoked_at is not null as is_revoked
    from api_keys where hash = ${hash}`;
  return row;
}

/** Whether this consumer ever had a key, good or revoked. */
export async function hasEverHadKey(tx: SqlTransaction, consumerId: string): Promise<boolean> {
  const rows = await tx`select 1 from api_keys where consumer_id = ${consumerId} limit 1`;
  return rows.length > 0;
}

/** Revokes the keys that were given in the environment before, and tells which. */
export async function revokeEnvironmentKeys(tx: SqlTransaction): Promise<ApiKeyRef[]> {
  return tx<ApiKeyRef[]>`
    update api_keys set revoked_at = now() where made_from = 'environment' and revoked_at is null
    returning id, hash, location_id`;
}
