import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { allows } from "@pragma/contracts/scopes";
import { createApiKey } from "@pragma/runtime/api-key";
import { publish } from "@pragma/runtime/outbox";
import { readableLocation } from "@pragma/runtime/own-location";
import type { Transaction } from "@pragma/runtime/postgres";
import type { RequestContext } from "@pragma/runtime/request-context";
import type { Accounts } from "./accounts.ts";
import { demandAllScopes, requireNoHigherLimit } from "./authority.ts";
import { locationNotFound } from "./locations.ts";
import { locationsConsumer, operatorsConsumer } from "./queries/consumers.ts";
import { type ChangedKey, insertKey, keyForUpdate, markRevoked } from "./queries/keys.ts";
import { locationExists } from "./queries/locations.ts";

/** Tells those who remember a key that it was made, revoked, or may do something else than before. */
export async function publishKey(
  tx: Transaction,
  key: ChangedKey,
  { revoked, traceparent }: { revoked: boolean; traceparent?: string | undefined },
): Promise<void> {
  await publish(tx, "key.changed", {
    subject: key.id,
    data: { locationId: key.locationId, keyId: key.id, keyHash: key.hash, revoked },
    traceparent,
  });
}

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

/**
 * Revokes a key for good, with its `key.changed` event; one that is revoked already stays as it is. A key of another
 * location is not there for a caller without `locations:any`, and only admin revokes the keys of admin.
 *
 * @throws `ApiError` key_not_found, scope_missing.
 */
export async function revokeKey(
  { db }: Pick<Accounts, "db">,
  { id, principal, context }: { id: string; principal: Principal; context: RequestContext },
): Promise<void> {
  const only = readableLocation(principal);
  await db.transaction(async (tx) => {
    const key = await keyForUpdate(tx, id);
    if (!key || (only !== null && key.locationId !== only)) {
      throw new ApiError("key_not_found", { detail: `There is no API key ${id}.` });
    }
    if (allows(key.scopes, "admin")) demandAllScopes(principal, ["admin"]);
    if (key.revokedAt) return;
    await markRevoked(tx, id);
    await publishKey(tx, key, { revoked: true, traceparent: context.traceparent });
  });
}
