import { randomUUID } from "node:crypto";
import type { ApiConsumer, ChangeApiConsumer } from "@pragma/contracts/api-consumer";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { defaultConsumerScopes, hasScope } from "@pragma/contracts/scopes";
import { throwIfInvalid } from "@pragma/runtime/http/request-issues";
import type { RequestContext } from "@pragma/runtime/observability/request-context";
import { getReadableLocationId } from "@pragma/runtime/service-calls/location-lookup";
import type { AccountsContext, EntityRow } from "./context.ts";
import { adminConsumerName, publishKeyChanged } from "./keys.ts";
import {
  isHigherRateLimit,
  maxGrantableRateLimit,
  requireAllScopes,
  requireGrantableRateLimits,
} from "./permissions.ts";
import { insertConsumer, listActiveApiKeys, lockConsumer, updateConsumer } from "./queries/consumers.ts";

/**
 * Creates a consumer of the key's location, or an operator's when the key has `locations:any`. It gets the default
 * scopes, as far as the key has them, and the default rate limit, or the key's own where that is lower.
 *
 * @throws `ApiError` consumer_exists when another consumer of the location, or of the operators, has the name;
 * location_forbidden when the key has neither a location nor `locations:any`.
 */
export async function createConsumer(
  { db, defaultRateLimit }: AccountsContext,
  { name, principal }: { name: string; principal: Principal },
): Promise<EntityRow<ApiConsumer>> {
  const locationId = getReadableLocationId(principal);
  const scopes = defaultConsumerScopes.filter((scope) => hasScope(principal.scopes, scope));
  const created = await db.transaction(async (tx) => {
    const maximum = await maxGrantableRateLimit(tx, { principal, defaultRateLimit });
    const rateLimit = maximum && isHigherRateLimit(defaultRateLimit, maximum) ? maximum : null;
    return insertConsumer(tx, { id: randomUUID(), name, scopes, rateLimit, locationId });
  });
  if (!created) throw new ApiError("consumer_exists", { detail: `There is a consumer named ${name} already.` });
  return created;
}

interface ConsumerChange {
  id: string;
  change: ChangeApiConsumer;
  principal: Principal;
  context: RequestContext;
}

/**
 * Changes what a consumer may do and how often, with a `key.changed` event for each of its keys, so that whoever
 * remembers them asks again. The caller needs every scope that the consumer has before and after, and a rate limit
 * that is as high; without `locations:any` it finds the consumers of its own location only.
 *
 * @throws `ApiError` consumer_not_found, scope_missing, rate_limit_forbidden; location_forbidden when the key has
 * neither a location nor `locations:any`; invalid_request when it would take the scope admin from the operator's own
 * consumer.
 */
export async function changeConsumer(
  { db, defaultRateLimit }: AccountsContext,
  { id, change, principal, context }: ConsumerChange,
): Promise<EntityRow<ApiConsumer>> {
  const locationId = getReadableLocationId(principal);
  return db.transaction(async (tx) => {
    const consumer = await lockConsumer(tx, { id, locationId });
    if (!consumer) throw new ApiError("consumer_not_found", { detail: `There is no consumer ${id}.` });
    const { scopes = consumer.scopes, rateLimit = consumer.rateLimit } = change;
    requireAllScopes(principal, [...consumer.scopes, ...scopes]);
    await requireGrantableRateLimits(tx, { principal, defaultRateLimit }, [consumer.rateLimit, rateLimit]);
    const keys = await listActiveApiKeys(tx, id);
    if (consumer.locationId === null && consumer.name === adminConsumerName && !scopes.includes("admin")) {
      const message = `must include admin: ${adminConsumerName} is the operator's own consumer, which nobody could set right again`;
      throwIfInvalid([{ in: "body", path: "scopes", code: "required", message }]);
    }
    const changed = await updateConsumer(tx, { id, scopes, rateLimit });
    const { traceparent } = context;
    await Promise.all(keys.map((key) => publishKeyChanged(tx, key, { revoked: false, traceparent })));
    return changed;
  });
}
