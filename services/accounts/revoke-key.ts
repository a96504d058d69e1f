import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { allows } from "@pragma/contracts/scopes";
import { readableLocation } from "@pragma/runtime/own-location";
import type { RequestContext } from "@pragma/runtime/request-context";
import type { Accounts } from "./accounts.ts";
import { demandAllScopes } from "./authority.ts";
import { publishKey } from "./key-event.ts";
import { keyForUpdate, markRevoked } from "./queries/keys.ts";

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
