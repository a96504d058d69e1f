import type { ChangeConsumer, Consumer } from "@pragma/contracts/consumer";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { allows } from "@pragma/contracts/scopes";
import { refuseFaults } from "@pragma/runtime/faults";
import type { Accounts } from "./accounts.ts";
import { adminConsumer } from "./admin-key.ts";
import { demandAllScopes } from "./authority.ts";
import { publishKey } from "./key-event.ts";
import { consumerForUpdate, updateConsumer } from "./queries/consumers.ts";
import { liveKeysOf } from "./queries/keys.ts";
import type { Stored } from "./stored.ts";

interface ChangeOfConsumer {
  id: string;
  change: ChangeConsumer;
  principal: Principal;
}

/**
 * Changes what a consumer may do and how often, with a `key.changed` event for each of its keys, so that whoever
 * remembers them asks again. The caller needs every scope that the consumer has before and after; and when another
 * location made the consumer, or has keys of it, `locations:any`.
 *
 * @throws `ApiError` consumer_not_found, scope_missing, location_forbidden; invalid_request when it would take the
 * scope admin from the operator's own consumer.
 */
export async function changeConsumer(
  { db }: Pick<Accounts, "db">,
  { id, change, principal }: ChangeOfConsumer,
): Promise<Stored<Consumer>> {
  return db.transaction(async (tx) => {
    const isAny = allows(principal.scopes, "locations:any");
    const own = principal.location?.id ?? null;
    const consumer = await consumerForUpdate(tx, { id, locationId: isAny ? null : own });
    if (!consumer) throw new ApiError("consumer_not_found", { detail: `There is no consumer ${id}.` });
    const { scopes = consumer.scopes, rateLimit = consumer.rateLimit } = change;
    demandAllScopes(principal, [...consumer.scopes, ...scopes]);
    const keys = await liveKeysOf(tx, id);
    if (!isAny && keys.some((key) => key.locationId !== own)) {
      throw new ApiError("location_forbidden", { detail: "Other locations than the key's own use this consumer too." });
    }
    if (consumer.name === adminConsumer && !scopes.includes("admin")) refuseToDisarm();
    const changed = await updateConsumer(tx, { id, scopes, rateLimit });
    await Promise.all(keys.map((key) => publishKey(tx, key, { revoked: false })));
    return changed;
  });
}

function refuseToDisarm(): void {
  refuseFaults([
    {
      in: "body",
      path: "scopes",
      code: "required",
      message: `must include admin: ${adminConsumer} is the operator's own consumer, which nobody could set right again`,
    },
  ]);
}
