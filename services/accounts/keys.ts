import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { allows, type Scope } from "@pragma/contracts/scopes";
import { createApiKey, hashKey, hasKeyShape } from "@pragma/runtime/api-key";
import { readableLocation } from "@pragma/runtime/locations";
import { publish } from "@pragma/runtime/outbox";
import { lockUntilCommit, type Transaction } from "@pragma/runtime/postgres";
import type { RequestContext } from "@pragma/runtime/request-context";
import type { Accounts } from "./accounts.ts";
import { demandAllScopes, requireNoHigherLimit } from "./authority.ts";
import { locationNotFound } from "./locations.ts";
import {
  type ChangedKey,
  everHadKey,
  insertConsumer,
  insertKey,
  keyByHash,
  keyForUpdate,
  locationsConsumer,
  markRevoked,
  type NewKey,
  operatorsConsumer,
  revokeKeysFromEnvironment,
} from "./queries/consumers.ts";
import { locationFacts } from "./queries/locations.ts";

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
    if (!(await locationFacts(tx, locationId))) throw locationNotFound(locationId);
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

/** The operator's own consumer. */
export const adminConsumer = "admin";

/**
 * Sees to it that the operator has a key that may do everything: the one that is given, or else one made at the first
 * start. Another one than before takes the place of the one before, and a key that was revoked stays revoked. However
 * many instances start at once, each key is made once.
 *
 * @returns the key that was made, which has to be shown: it is kept nowhere.
 */
export async function ensureAdminKey(
  { db, log }: Pick<Accounts, "db" | "log">,
  given: string | undefined,
): Promise<string | undefined> {
  return db.transaction(async (tx) => {
    await lockUntilCommit(tx, db, "admin key");
    const consumerId = await ensureAdminConsumer(tx);
    if (given !== undefined) {
      const outcome = await takeGivenKey(tx, given, consumerId);
      if (outcome === "revoked") log.error("PRAGMA_ADMIN_KEY was revoked, and stays so: give another one");
      return undefined;
    }
    if (await everHadKey(tx, consumerId)) return undefined;
    const { key, prefix, hash } = createApiKey();
    await addKey(tx, { hash, prefix, consumerId, madeFrom: "first start" });
    return key;
  });
}

async function ensureAdminConsumer(tx: Transaction): Promise<string> {
  const admin = { id: randomUUID(), name: adminConsumer, scopes: ["admin"] as Scope[], rateLimit: null };
  const created = await insertConsumer(tx, { ...admin, locationId: null });
  const consumer = created ?? (await operatorsConsumer(tx, adminConsumer));
  if (!consumer) throw new Error("The consumer admin is neither there nor can it be made.");
  return consumer.id;
}

async function takeGivenKey(tx: Transaction, key: string, consumerId: string): Promise<"made" | "known" | "revoked"> {
  const hash = hashKey(key);
  const known = await keyByHash(tx, hash);
  if (known && known.consumerId !== consumerId) throw new Error("PRAGMA_ADMIN_KEY is the API key of another consumer.");
  if (known) return known.isRevoked ? "revoked" : "known";
  for (const replaced of await revokeKeysFromEnvironment(tx)) await publishKey(tx, replaced, { revoked: true });
  await addKey(tx, { hash, prefix: shownOf(key), consumerId, madeFrom: "environment" });
  return "made";
}

/** As much of a key as tells it apart. One that somebody thought up may be short, so that less of it is shown. */
function shownOf(key: string): string {
  return key.slice(0, hasKeyShape(key) ? 14 : 4);
}

async function addKey(tx: Transaction, key: Omit<NewKey, "id" | "locationId">): Promise<void> {
  const id = randomUUID();
  await insertKey(tx, { ...key, id, locationId: null });
  await publishKey(tx, { id, hash: key.hash, locationId: null }, { revoked: false });
}
