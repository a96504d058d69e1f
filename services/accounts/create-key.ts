import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { allows } from "@pragma/contracts/scopes";
import { createApiKey } from "@pragma/runtime/api-key";
import type { RequestContext } from "@pragma/runtime/request-context";
import type { Accounts } from "./accounts.ts";
import { demandAllScopes, requireNoHigherLimit } from "./authority.ts";
import { publishKey } from "./key-event.ts";
import { locationsConsumer, operatorsConsumer } from "./queries/consumers.ts";
import { insertKey } from "./queries/keys.ts";
import { locationExists } from "./queries/locations.ts";
import { locationNotFound } from "./readable-location.ts";

interface KeyWanted {
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
export async function createKey(
  { db, defaultRateLimit }: Accounts,
  { locationId, consumerName, principal, context }: KeyWanted,
): Promise<string> {
  const { key, prefix, hash } = createApiKey();
  await db.transaction(async (tx) => {
    if (!(await locationExists(tx, locationId))) throw locationNotFound(locationId);
    const operators = allows(principal.scopes, "locations:any") && (await operatorsConsumer(tx, consumerName));
    const consumer = operators || (await locationsConsumer(tx, { name: consumerName, locationId }));
    if (!consumer) throw new ApiError("consumer_not_found", { detail: `There is no consumer named ${consumerName}.` });
    demandAllScopes(principal, consumer.scopes);
    await requireNoHigherLimit(tx, { principal, defaultRateLimit }, [consumer.rateLimit]);
    const id = randomUUID();
    await insertKey(tx, { id, hash, prefix, consumerId: consumer.id, locationId, madeFrom: "request" });
    await publishKey(tx, { id, hash, locationId }, { revoked: false, traceparent: context.traceparent });
  });
  return key;
}
