import { randomUUID } from "node:crypto";
import type { RotateApiKeyRequest } from "@pragma/contracts/api-consumer";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { hasScope } from "@pragma/contracts/scopes";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { throwIfInvalid } from "@pragma/runtime/http/request-issues";
import type { AuditSource } from "@pragma/runtime/messaging/audit-events";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import { generateApiKey } from "@pragma/runtime/security/api-key";
import { getReadRestrictionLocationId } from "@pragma/runtime/service-calls/location-lookup";
import type { AccountsServiceContext } from "./context.ts";
import { createLocationNotFoundError } from "./locations.ts";
import { findLatestGrantableExpiry, requireGrantableRateLimits, requireScopesToGrant } from "./permissions.ts";
import {
  type ApiKeyEventFields,
  effectiveExpiry,
  findApiKeyLimits,
  limitApiKeyOverlap,
  lockApiKey,
  markApiKeyRevoked,
  type NewApiKeyRow,
} from "./queries/api-keys.ts";
import { insertAuditEvent } from "./queries/audit-events.ts";
import { shareLockApiConsumer } from "./queries/consumers.ts";
import { findLocationRef } from "./queries/locations.ts";

/** Publishes `key.changed`, so that gateways remove the key from their caches. */
export async function publishApiKeyChanged(
  tx: SqlTransaction,
  key: ApiKeyEventFields,
  { revoked, traceparent }: { revoked: boolean; traceparent?: string | undefined },
): Promise<void> {
  await writeEventToOutbox(tx, "key.changed", {
    subject: key.id,
    data: { locationId: key.locationId, keyId: key.id, keyHash: key.hash, revoked },
    traceparent,
  });
}

export async function addApiKey(tx: SqlTransaction, key: NewApiKeyRow, traceparent?: string): Promise<void> {
  await tx`insert into api_keys ${tx(key)}`;
  await publishApiKeyChanged(tx, key, { revoked: false, traceparent });
}

/** Maximum number of active keys of a consumer at a location. Each change of the consumer publishes an event for each. */
const maxActiveKeys = 100;

/**
 * Checks the number of active keys after one was added; concurrent requests can exceed it. @throws `ApiError`
 * limit_reached.
 */
async function requireActiveKeyLimit(
  tx: SqlTransaction,
  { principal, locationId, consumerId }: { principal: Principal; locationId: string | null; consumerId: string },
): Promise<void> {
  if (locationId === null || hasScope(principal.scopes, "locations:any")) return;
  const { count } = await tx`
    select from api_keys
    where location_id = ${locationId} and consumer_id = ${consumerId} and revoked_at is null
      and (${effectiveExpiry(tx)} <= now()) is not true
    limit ${maxActiveKeys + 1}`;
  if (count <= maxActiveKeys) return;
  throw new ApiError("limit_reached", {
    detail: `A consumer can have up to ${maxActiveKeys} active API keys at a location. Revoke keys that are no longer used.`,
    limit: { name: "active_api_keys", maximum: maxActiveKeys, unit: "active API keys per consumer and location" },
  });
}

interface NewConsumerKey {
  locationId: string;
  consumerName: string;
  expiresAt?: string | undefined;
  principal: Principal;
  audit: AuditSource;
}

/**
 * Creates an API key at a location and returns it. Only its hash is stored. With `locations:any`, looks for the
 * consumer's name first among the operators' consumers. By default, the key expires with the principal's key, or never.
 * The caller must check that the principal may act for the location. @throws `ApiError` location_not_found,
 * consumer_not_found, scope_missing, rate_limit_forbidden, limit_reached, quota_exceeded.
 */
export async function createConsumerApiKey(
  { db, defaultRateLimit }: AccountsServiceContext,
  { locationId, consumerName, expiresAt: requestedExpiry, principal, audit }: NewConsumerKey,
): Promise<string> {
  const { key, prefix, hash } = generateApiKey();
  await db.transaction(async (tx) => {
    if (!(await findLocationRef(tx, { id: locationId }))) throw createLocationNotFoundError(locationId);
    const operatorConsumer =
      hasScope(principal.scopes, "locations:any") &&
      (await shareLockApiConsumer(tx, { name: consumerName, locationId: null }));
    const consumer = operatorConsumer || (await shareLockApiConsumer(tx, { name: consumerName, locationId }));
    if (!consumer) throw new ApiError("consumer_not_found", { detail: `There is no consumer named ${consumerName}.` });
    requireScopesToGrant(principal, consumer.scopes);
    await requireGrantableRateLimits(tx, { principal, defaultRateLimit }, [consumer.rateLimit]);
    const id = randomUUID();
    const latest = await findLatestGrantableExpiry(tx, { principal, isOwnSuccessor: false });
    const expiresAt = resolveExpiry(requestedExpiry, { byDefault: null, latest });
    const key = { id, hash, prefix, consumerId: consumer.id, locationId, createdBy: principal.keyId, expiresAt };
    await addApiKey(tx, { ...key, createdFrom: "request" }, audit.traceparent);
    await requireActiveKeyLimit(tx, { principal, locationId, consumerId: consumer.id });
    await insertAuditEvent(tx, audit, {
      ...{ action: "key.created", locationId, target: { type: "key", id } },
      details: { consumer: consumerName, prefix, expiresAt: expiresAt?.toISOString() ?? null },
    });
  });
  return key;
}

interface KeyRequest {
  id: string;
  principal: Principal;
  audit: AuditSource;
}

/** Locks and returns a key. @throws `ApiError` key_not_found, location_forbidden; scope_missing for an admin's key. */
async function requireManageableApiKey(tx: SqlTransaction, { id, principal }: Pick<KeyRequest, "id" | "principal">) {
  const visibleLocationId = getReadRestrictionLocationId(principal);
  const key = await lockApiKey(tx, { id });
  if (!key || (visibleLocationId !== null && key.locationId !== visibleLocationId)) {
    throw new ApiError("key_not_found", { detail: `There is no API key ${id}.` });
  }
  if (hasScope(key.scopes, "admin")) requireScopesToGrant(principal, ["admin"]);
  return key;
}

/** Revokes an API key permanently. @throws `ApiError` key_not_found, scope_missing, location_forbidden. */
export async function revokeApiKey(
  { db }: Pick<AccountsServiceContext, "db">,
  { id, principal, audit }: KeyRequest,
): Promise<void> {
  await db.transaction(async (tx) => {
    const key = await requireManageableApiKey(tx, { id, principal });
    if (key.revokedAt) return;
    await markApiKeyRevoked(tx, { id, revokedBy: principal.keyId });
    await publishApiKeyChanged(tx, key, { revoked: true, traceparent: audit.traceparent });
    await insertAuditEvent(tx, audit, {
      ...{ action: "key.revoked", locationId: key.locationId, target: { type: "key", id: key.id } },
      details: { consumer: key.consumerName, prefix: key.prefix },
    });
  });
}

/**
 * Creates a key that replaces another one, which expires after the overlap, or is revoked if it has leaked. The
 * principal needs the permissions to create the new key and to revoke the previous key. @throws `ApiError`
 * key_not_found, key_inactive, scope_missing, rate_limit_forbidden, limit_reached, quota_exceeded, location_forbidden.
 */
export async function rotateApiKey(
  { db, defaultRateLimit }: AccountsServiceContext,
  { id, options, principal, audit }: KeyRequest & { options: RotateApiKeyRequest },
): Promise<{ id: string; apiKey: string; expiresAt: Date | null; previousKeyExpiresAt: Date }> {
  const { key: apiKey, prefix, hash } = generateApiKey();
  return db.transaction(async (tx) => {
    // The consumer is locked before its key, in the same sequence as when its scopes are changed.
    const { consumerId } = (await findApiKeyLimits(tx, id)) ?? {};
    const consumer = consumerId === undefined ? undefined : await shareLockApiConsumer(tx, { id: consumerId });
    const previous = await requireManageableApiKey(tx, { id, principal });
    if (!consumer) throw new Error("An API key has a consumer.");
    if (!previous.isActive)
      throw new ApiError("key_inactive", { detail: "Only an active API key can be rotated. Create a key instead." });
    requireScopesToGrant(principal, consumer.scopes);
    await requireGrantableRateLimits(tx, { principal, defaultRateLimit }, [consumer.rateLimit]);
    const { locationId } = previous;
    const newId = randomUUID();
    const latest = await findLatestGrantableExpiry(tx, { principal, isOwnSuccessor: previous.id === principal.keyId });
    // By default, both keys are valid for the same time.
    const lifetimeMs = previous.expiresAt && previous.expiresAt.getTime() - previous.createdAt.getTime();
    const byDefault = lifetimeMs === null ? null : new Date(Date.now() + lifetimeMs);
    const expiresAt = resolveExpiry(options.expiresAt, { byDefault, latest });
    const { traceparent } = audit;
    const key = { id: newId, hash, prefix, consumerId: consumer.id, locationId, createdBy: principal.keyId, expiresAt };
    await addApiKey(tx, { ...key, createdFrom: "request" }, traceparent);
    const previousKeyExpiresAt = options.isLeaked
      ? await markApiKeyRevoked(tx, { id: previous.id, revokedBy: principal.keyId })
      : await limitApiKeyOverlap(tx, { id: previous.id, seconds: options.overlapSeconds });
    // The rotation of a leaked key adds no active key, and must always be possible.
    if (!options.isLeaked) await requireActiveKeyLimit(tx, { principal, locationId, consumerId: consumer.id });
    await publishApiKeyChanged(tx, previous, { revoked: options.isLeaked, traceparent });
    await insertAuditEvent(tx, audit, {
      ...{ action: "key.rotated", locationId, target: { type: "key", id: previous.id } },
      details: {
        ...{ consumer: previous.consumerName, prefix: previous.prefix, newKeyId: newId, newPrefix: prefix },
        ...{ isLeaked: options.isLeaked, previousKeyExpiresAt: previousKeyExpiresAt.toISOString() },
        expiresAt: expiresAt?.toISOString() ?? null,
      },
    });
    return { id: newId, apiKey, expiresAt, previousKeyExpiresAt };
  });
}

/** Returns the expiry of a new key, which `latest` limits; null for never. @throws `ApiError` invalid_request. */
function resolveExpiry(
  requested: string | undefined,
  { byDefault, latest }: { byDefault: Date | null; latest: Date | null },
): Date | null {
  if (requested === undefined) return latest && (!byDefault || byDefault > latest) ? latest : byDefault;
  const expiresAt = new Date(requested);
  const issue = { in: "body", path: "expiresAt" } as const;
  if (expiresAt.getTime() <= Date.now())
    throwIfInvalid([{ ...issue, code: "too_small", message: "Must be in the future" }]);
  if (latest && expiresAt > latest) {
    const message = `Must not be after ${latest.toISOString()}, when the calling API key expires`;
    throwIfInvalid([{ ...issue, code: "too_big", message }]);
  }
  return expiresAt;
}
