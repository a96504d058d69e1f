import { randomUUID } from "node:crypto";
import type { Consumer } from "@pragma/contracts/consumer";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { allows, defaultScopes } from "@pragma/contracts/scopes";
import { readableLocation } from "@pragma/runtime/own-location";
import type { Accounts } from "./accounts.ts";
import { isHigher, maxRateLimit } from "./authority.ts";
import { insertConsumer } from "./queries/consumers.ts";
import type { Stored } from "./stored.ts";

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
