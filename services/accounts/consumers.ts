import { randomUUID } from "node:crypto";
import type { ChangeConsumer, Consumer } from "@pragma/contracts/consumer";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { allows, defaultScopes } from "@pragma/contracts/scopes";
import { refuseFaults } from "@pragma/runtime/faults";
import { readableLocation } from "@pragma/runtime/locations";
import type { RequestContext } from "@pragma/runtime/request-context";
import type { Accounts, Stored } from "./accounts.ts";
import { demandAllScopes, isHigher, maxRateLimit, requireNoHigherLimit } from "./authority.ts";
import { adminConsumer, publishKey } from "./keys.ts";
import { consumerForUpdate, insertConsumer, liveKeysOf, updateConsumer } from "./queries/consumers.ts";

/**
 * Creates a consumer of the key's location, or an operator's when the key has `locations:any`. It gets the default
 * scopes, as far as the key has them, and the default rate limit, or the key's own where that is lower.
 *
 * @throws `ApiError` consumer_exists when another consumer of the location, or of the operators, has the name;
 * location_forbidden when the key has neither a location nor `locations:any`.
 */
export async function createConsumer(
  { db, defaultRateLimit }: Accounts,
  { name, principal }: { name: string; principal: Principal },
): Promise<Stored<Consumer>> {
  const locationId = readableLocation(principal);
  const scopes = defaultScopes.filter((scope) => allows(principal.scopes, scope));
  const created = await db.transaction(async (tx) => {
    const maximum = await maxRateLimit(tx, { principal, defaultRateLimit });
    const rateLimit = maximum && isHigher(defaultRateLimit, maximum) ? maximum : null;
    return insertConsumer(tx, { id: randomUUID(), name, scopes, rateLimit, locationId });
  });
  if (!created) throw new ApiError("consumer_exists", { detail: `There is a consumer named ${name} already.` });
  return created;
}

interface ChangeOfConsumer {
  id: string;
  change: ChangeConsumer;
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
  { db, defaultRateLimit }: Accounts,
  { id, change, principal, context }: ChangeOfConsumer,
): Promise<Stored<Consumer>> {
  const locationId = readableLocation(principal);
  return db.transaction(async (tx) => {
    const consumer = await consumerForUpdate(tx, { id, locationId });
    if (!consumer) throw new ApiError("consumer_not_found", { detail: `There is no consumer ${id}.` });
    const { scopes = consumer.scopes, rateLimit = consumer.rateLimit } = change;
    demandAllScopes(principal, [...consumer.scopes, ...scopes]);
    await requireNoHigherLimit(tx, { principal, defaultRateLimit }, [consumer.rateLimit, rateLimit]);
    const keys = await liveKeysOf(tx, id);
    if (consumer.locationId === null && consumer.name === adminConsumer && !scopes.includes("admin")) {
      const message = `must include admin: ${adminConsumer} is the operator's own consumer, which nobody could set right again`;
      refuseFaults([{ in: "body", path: "scopes", code: "required", message }]);
    }
    const changed = await updateConsumer(tx, { id, scopes, rateLimit });
    const { traceparent } = context;
    await Promise.all(keys.map((key) => publishKey(tx, key, { revoked: false, traceparent })));
    return changed;
  });
}
