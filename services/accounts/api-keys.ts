import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { hasScope } from "@pragma/contracts/scopes";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import { generateApiKey } from "@pragma/runtime/security/api-key";
import { getReadRestrictionLocationId } from "@pragma/runtime/service-calls/location-lookup";
import type { AccountsServiceContext } from "./context.ts";
import { createLocationNotFoundError } from "./locations.ts";
import { requireGrantableRateLimits, requireScopesToGrant } from "./permissions.ts";
import { type ApiKeyEventFields, insertApiKey, lockApiKey, markApiKeyRevoked } from "./queries/api-keys.ts";
import { shareLockApiConsumerByName, shareLockOperatorApiConsumer } from "./queries/consumers.ts";
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

interface NewConsumerKey {
  locationId: string;
  consumerName: string;
  principal: Principal;
  context: ObservabilityContext;
}

/**
 * Creates an API key at a location for the consumer with this name, and returns the key. Only the hash of the key is
 * stored. Looks for the name among the location's consumers. If the principal has `locations:any`, looks first among
 * the operators' consumers. The principal must have every scope of the consumer, and its rate limit must
 * not be lower than that of the consumer. The caller must check that the principal may act for the location.
 *
 * @throws `ApiError` location_not_found, consumer_not_found, scope_missing, rate_limit_forbidden.
 */
export async function createConsumerApiKey(
  { db, defaultRateLimit }: AccountsServiceContext,
  { locationId, consumerName, principal, context }: NewConsumerKey,
): Promise<string> {
  const { key, prefix, hash } = generateApiKey();
  await db.transaction(async (tx) => {
    if (!(await findLocationRef(tx, locationId))) throw createLocationNotFoundError(locationId);
    const operatorConsumer =
      hasScope(principal.scopes, "locations:any") && (await shareLockOperatorApiConsumer(tx, consumerName));
    const consumer = operatorConsumer || (await shareLockApiConsumerByName(tx, { name: consumerName, locationId }));
    if (!consumer) throw new ApiError("consumer_not_found", { detail: `There is no consumer named ${consumerName}.` });
    requireScopesToGrant(principal, consumer.scopes);
    await requireGrantableRateLimits(tx, { principal, defaultRateLimit }, [consumer.rateLimit]);
    const id = randomUUID();
    await insertApiKey(tx, { id, hash, prefix, consumerId: consumer.id, locationId, createdFrom: "request" });
    await publishApiKeyChanged(tx, { id, hash, locationId }, { revoked: false, traceparent: context.traceparent });
  });
  return key;
}

/**
 * Revokes an API key permanently and publishes `key.changed`. Does nothing if the key is already revoked. A principal
 * without `locations:any` finds only keys of its own location. Only an admin can revoke keys with the scope admin.
 *
 * @throws `ApiError` key_not_found, scope_missing; location_forbidden if the principal has neither a location nor
 * `locations:any`.
 */
export async function revokeApiKey(
  { db }: Pick<AccountsServiceContext, "db">,
  { id, principal, context }: { id: string; principal: Principal; context: ObservabilityContext },
): Promise<void> {
  const visibleLocationId = getReadRestrictionLocationId(principal);
  await db.transaction(async (tx) => {
    const key = await lockApiKey(tx, id);
    if (!key || (visibleLocationId !== null && key.locationId !== visibleLocationId)) {
      throw new ApiError("key_not_found", { detail: `There is no API key ${id}.` });
    }
    if (hasScope(key.scopes, "admin")) requireScopesToGrant(principal, ["admin"]);
    if (key.revokedAt) return;
    await markApiKeyRevoked(tx, id);
    await publishApiKeyChanged(tx, key, { revoked: true, traceparent: context.traceparent });
  });
}
