import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { hasScope, type Scope } from "@pragma/contracts/scopes";
import { lockUntilCommit, type SqlTransaction } from "@pragma/runtime/database/postgres";
import { publishEvent } from "@pragma/runtime/messaging/outbox";
import type { RequestContext } from "@pragma/runtime/observability/request-context";
import { createApiKey, hashApiKey, isWellFormedApiKey } from "@pragma/runtime/security/api-key";
import { getReadableLocationId } from "@pragma/runtime/service-calls/location-lookup";
import type { AccountsContext } from "./context.ts";
import { locationNotFoundError } from "./locations.ts";
import { requireAllScopes, requireGrantableRateLimits } from "./permissions.ts";
import {
  type ApiKeyRef,
  findApiKeyByHash,
  findLocationConsumer,
  findOperatorConsumer,
  hasEverHadKey,
  insertApiKey,
  insertConsumer,
  lockApiKey,
  markApiKeyRevoked,
  type NewApiKey,
  revokeEnvironmentKeys,
} from "./queries/consumers.ts";
import { findLocationRef } from "./queries/locations.ts";

/** Tells those who remember a key that it was made, revoked, or may do something else than before. */
export async function publishKeyChanged(
  tx: SqlTransaction,
  key: ApiKeyRef,
  { revoked, traceparent }: { revoked: boolean; traceparent?: string | undefined },
): Promise<void> {
  await publishEvent(tx, "key.changed", {
    subject: key.id,
    data: { locationId: key.locationId, keyId: key.id, keyHash: key.hash, revoked },
    traceparent,
  });
}

interface NewConsumerKey {
  locationId: string;
  consumerName: string;
  principal: Principal;
  context: RequestContext;
}

/**
 * Creates a key at a location, which the caller has checked that it may act for. The consumer of this name is the one
 * that the location created; for a caller with `locations:any` the operators' consumers come first. The caller needs
 * every scope that the consumer has, and a rate limit that is as high.
 *
 * @returns the key itself, which is kept nowhere.
 * @throws `ApiError` location_not_found, consumer_not_found, scope_missing, rate_limit_forbidden.
 */
export async function createConsumerKey(
  { db, defaultRateLimit }: AccountsContext,
  { locationId, consumerName, principal, context }: NewConsumerKey,
): Promise<string> {
  const { key, prefix, hash } = createApiKey();
  await db.transaction(async (tx) => {
    if (!(await findLocationRef(tx, locationId))) throw locationNotFoundError(locationId);
    const operatorConsumer =
      hasScope(principal.scopes, "locations:any") && (await findOperatorConsumer(tx, consumerName));
    const consumer = operatorConsumer || (await findLocationConsumer(tx, { name: consumerName, locationId }));
    if (!consumer) throw new ApiError("consumer_not_found", { detail: `There is no consumer named ${consumerName}.` });
    requireAllScopes(principal, consumer.scopes);
    await requireGrantableRateLimits(tx, { principal, defaultRateLimit }, [consumer.rateLimit]);
    const id = randomUUID();
    await insertApiKey(tx, { id, hash, prefix, consumerId: consumer.id, locationId, madeFrom: "request" });
    await publishKeyChanged(tx, { id, hash, locationId }, { revoked: false, traceparent: context.traceparent });
  });
  return key;
}

/**
 * Revokes a key for good, with its `key.changed` event; one that is revoked already stays as it is. A key of another
 * location is not there for a caller without `locations:any`, and only admin revokes the keys of admin.
 *
 * @throws `ApiError` key_not_found, scope_missing.
 */
export async function revokeApiKey(
  { db }: Pick<AccountsContext, "db">,
  { id, principal, context }: { id: string; principal: Principal; context: RequestContext },
): Promise<void> {
  const visibleLocationId = getReadableLocationId(principal);
  await db.transaction(async (tx) => {
    const key = await lockApiKey(tx, id);
    if (!key || (visibleLocationId !== null && key.locationId !== visibleLocationId)) {
      throw new ApiError("key_not_found", { detail: `There is no API key ${id}.` });
    }
    if (hasScope(key.scopes, "admin")) requireAllScopes(principal, ["admin"]);
    if (key.revokedAt) return;
    await markApiKeyRevoked(tx, id);
    await publishKeyChanged(tx, key, { revoked: true, traceparent: context.traceparent });
  });
}

/** The operator's own consumer. */
export const adminConsumerName = "admin";

/**
 * Sees to it that the operator has a key that may do everything: the one that is given, or else one made at the first
 * start. Another one than before takes the place of the one before, and a key that was revoked stays revoked. However
 * many instances start at once, each key is made once.
 *
 * @returns the key that was made, which has to be shown: it is kept nowhere.
 */
export async function ensureAdminKey(
  { db, log }: Pick<AccountsContext, "db" | "log">,
  configuredKey: string | undefined,
): Promise<string | undefined> {
  return db.transaction(async (tx) => {
    await lockUntilCommit(tx, db, "admin key");
    const consumerId = await ensureAdminConsumer(tx);
    if (configuredKey !== undefined) {
      const configuredKeyState = await registerConfiguredKey(tx, configuredKey, consumerId);
      if (configuredKeyState === "revoked") log.error("PRAGMA_ADMIN_KEY was revoked, and stays so: give another one");
      return undefined;
    }
    if (await hasEverHadKey(tx, consumerId)) return undefined;
    const { key, prefix, hash } = createApiKey();
    await insertOperatorKey(tx, { hash, prefix, consumerId, madeFrom: "first start" });
    return key;
  });
}

async function ensureAdminConsumer(tx: SqlTransaction): Promise<string> {
  const admin = { id: randomUUID(), name: adminConsumerName, scopes: ["admin"] as Scope[], rateLimit: null };
  const created = await insertConsumer(tx, { ...admin, locationId: null });
  const consumer = created ?? (await findOperatorConsumer(tx, adminConsumerName));
  if (!consumer) throw new Error("The consumer admin is neither there nor can it be made.");
  return consumer.id;
}

async function registerConfiguredKey(
  tx: SqlTransaction,
  key: string,
  consumerId: string,
): Promise<"made" | "known" | "revoked"> {
  const hash = hashApiKey(key);
  const existing = await findApiKeyByHash(tx, hash);
  if (existing && existing.consumerId !== consumerId)
    throw new Error("PRAGMA_ADMIN_KEY is the API key of another consumer.");
  if (existing) return existing.isRevoked ? "revoked" : "known";
  for (const replaced of await revokeEnvironmentKeys(tx)) await publishKeyChanged(tx, replaced, { revoked: true });
  await insertOperatorKey(tx, { hash, prefix: displayedKeyPrefix(key), consumerId, madeFrom: "environment" });
  return "made";
}

/** As much of a key as tells it apart. One that somebody thought up may be short, so that less of it is shown. */
function displayedKeyPrefix(key: string): string {
  return key.slice(0, isWellFormedApiKey(key) ? 14 : 4);
}

async function insertOperatorKey(tx: SqlTransaction, key: Omit<NewApiKey, "id" | "locationId">): Promise<void> {
  const id = randomUUID();
  await insertApiKey(tx, { ...key, id, locationId: null });
  await publishKeyChanged(tx, { id, hash: key.hash, locationId: null }, { revoked: false });
}
