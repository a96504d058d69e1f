import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { createApiKey } from "@pragma/runtime/api-key";
import type { Accounts } from "./accounts.ts";
import { demandAllScopes } from "./authority.ts";
import { publishKey } from "./key-event.ts";
import { consumerByName } from "./queries/consumers.ts";
import { insertKey } from "./queries/keys.ts";
import { locationExists } from "./queries/locations.ts";
import { locationNotFound } from "./readable-location.ts";

interface KeyWanted {
  locationId: string;
  consumerName: string;
  principal: Principal;
}

/**
 * Makes a key for a consumer at a location, which the caller has made sure it may act for. The caller needs every scope
 * that the consumer has. Gives the key itself, which is kept nowhere.
 *
 * @throws `ApiError` location_not_found, consumer_not_found, scope_missing.
 */
export async function createKey(
  { db }: Pick<Accounts, "db">,
  { locationId, consumerName, principal }: KeyWanted,
): Promise<string> {
  const { key, prefix, hash } = createApiKey();
  await db.transaction(async (tx) => {
    if (!(await locationExists(tx, locationId))) throw locationNotFound(locationId);
    const consumer = await consumerByName(tx, consumerName);
    if (!consumer) throw new ApiError("consumer_not_found", { detail: `There is no consumer named ${consumerName}.` });
    demandAllScopes(principal, consumer.scopes);
    const id = randomUUID();
    await insertKey(tx, { id, hash, prefix, consumerId: consumer.id, locationId, madeFrom: "request" });
    await publishKey(tx, { id, hash, locationId }, { revoked: false });
  });
  return key;
}
