import { randomUUID } from "node:crypto";
import type { ChangeApiConsumerRequest, RateLimit } from "@pragma/contracts/api-consumer";
import type { AuditDetails } from "@pragma/contracts/audit";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { defaultApiConsumerScopes, hasScope } from "@pragma/contracts/scopes";
import { type Database, lockInTransaction, type SqlTransaction } from "@pragma/runtime/database/postgres";
import { throwIfInvalid } from "@pragma/runtime/http/request-issues";
import type { AuditSource } from "@pragma/runtime/messaging/audit-events";
import { getReadRestrictionLocationId } from "@pragma/runtime/service-calls/location-lookup";
import { adminApiConsumerName } from "./admin-key.ts";
import { publishApiKeyChanged } from "./api-keys.ts";
import type { AccountsServiceContext } from "./context.ts";
import {
  findMaxGrantableRateLimit,
  isHigherRateLimit,
  requireGrantableRateLimits,
  requireScopesToGrant,
} from "./permissions.ts";
import type { ApiKeyEventFields } from "./queries/api-keys.ts";
import { insertAuditEvent } from "./queries/audit-events.ts";
import { type ConsumerRow, consumerColumns, insertApiConsumer, lockApiConsumer } from "./queries/consumers.ts";

/** Maximum number of consumers of a location. With that of a consumer's keys, it bounds the keys of a location. */
const maxConsumersPerLocation = 50;

/**
 * Creates a consumer of the principal's location, or of the operators if the principal has `locations:any`, with the
 * default scopes and rate limit as far as the principal may grant them. @throws `ApiError` consumer_exists,
 * limit_reached, location_forbidden.
 */
export async function createApiConsumer(
  { db, defaultRateLimit }: AccountsServiceContext,
  { name, principal, audit }: { name: string; principal: Principal; audit: AuditSource },
): Promise<ConsumerRow> {
  const locationId = getReadRestrictionLocationId(principal);
  const scopes = defaultApiConsumerScopes.filter((scope) => hasScope(principal.scopes, scope));
  const created = await db.transaction(async (tx) => {
    const maximum = await findMaxGrantableRateLimit(tx, { principal, defaultRateLimit });
    const rateLimit = maximum && isHigherRateLimit(defaultRateLimit, maximum) ? maximum : null;
    const consumer = await insertApiConsumer(tx, { id: randomUUID(), name, scopes, rateLimit, locationId });
    if (consumer) {
      if (locationId !== null) await requireConsumerLimit(tx, db, locationId);
      await insertAuditEvent(tx, audit, {
        ...{ action: "consumer.created", locationId, target: { type: "consumer", id: consumer.id } },
        details: { name, scopes, ...toRateLimitDetails(rateLimit) },
      });
    }
    return consumer;
  });
  if (!created) throw new ApiError("consumer_exists", { detail: `A consumer named ${name} already exists.` });
  return created;
}

/** Checks that a location has not too many consumers, after one was added. @throws `ApiError` limit_reached. */
async function requireConsumerLimit(tx: SqlTransaction, db: Database, locationId: string): Promise<void> {
  // Otherwise, consumers that are created at the same time would not count each other.
  await lockInTransaction(tx, db, `consumers of ${locationId}`);
  const { count } = await tx`
    select from consumers where location_id = ${locationId} limit ${maxConsumersPerLocation + 1}`;
  if (count <= maxConsumersPerLocation) return;
  throw new ApiError("limit_reached", {
    detail: `A location can have up to ${maxConsumersPerLocation} consumers. Use an existing consumer, with another API key if necessary.`,
    limit: { name: "consumers", maximum: maxConsumersPerLocation, unit: "consumers per location" },
  });
}

interface ConsumerChange {
  id: string;
  change: ChangeApiConsumerRequest;
  principal: Principal;
  audit: AuditSource;
}

/**
 * Changes the scopes and rate limit of a consumer, and returns it. Publishes `key.changed` for each of its active keys.
 * Neither the old nor the new permissions may exceed those of the principal. @throws `ApiError` consumer_not_found,
 * scope_missing, rate_limit_forbidden, location_forbidden; invalid_request if the consumer of admin keys would lose the
 * scope admin; quota_exceeded, for which each active key counts.
 */
export async function applyConsumerChange(
  { db, defaultRateLimit }: AccountsServiceContext,
  { id, change, principal, audit }: ConsumerChange,
): Promise<ConsumerRow> {
  const locationId = getReadRestrictionLocationId(principal);
  return db.transaction(async (tx) => {
    const consumer = await lockApiConsumer(tx, { id, locationId });
    if (!consumer) throw new ApiError("consumer_not_found", { detail: `There is no consumer ${id}.` });
    const { scopes = consumer.scopes, rateLimit = consumer.rateLimit } = change;
    requireScopesToGrant(principal, [...consumer.scopes, ...scopes]);
    await requireGrantableRateLimits(tx, { principal, defaultRateLimit }, [consumer.rateLimit, rateLimit]);
    // Locked, so that they cannot be revoked until the transaction ends.
    const keys = await tx<ApiKeyEventFields[]>`
      select id, hash, location_id from api_keys
      where consumer_id = ${id} and revoked_at is null order by id for share`;
    if (consumer.locationId === null && consumer.name === adminApiConsumerName && !scopes.includes("admin")) {
      const message = `Must include admin, because only a key with this scope could add the scope again to the consumer ${adminApiConsumerName}`;
      throwIfInvalid([{ in: "body", path: "scopes", code: "required", message }]);
    }
    const [changed] = await tx<[ConsumerRow]>`
      update consumers set scopes = ${scopes}, rate_limit = ${rateLimit && tx.json(rateLimit)}, updated_at = now()
      where id = ${id}
      returning ${consumerColumns(tx)}`;
    const { traceparent } = audit;
    await Promise.all(keys.map((key) => publishApiKeyChanged(tx, key, { revoked: false, traceparent })));
    await insertAuditEvent(tx, audit, {
      ...{ action: "consumer.changed", locationId: consumer.locationId, target: { type: "consumer", id } },
      changedKeys: keys.length,
      details: {
        name: consumer.name,
        addedScopes: scopes.filter((scope) => !consumer.scopes.includes(scope)),
        removedScopes: consumer.scopes.filter((scope) => !scopes.includes(scope)),
        ...(change.rateLimit !== undefined && toRateLimitDetails(rateLimit)),
      },
    });
    return changed;
  });
}

function toRateLimitDetails(rateLimit: RateLimit | null): AuditDetails {
  return { rateLimitPerSecond: rateLimit?.perSecond ?? null, rateLimitBurst: rateLimit?.burst ?? null };
}
