import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { readableLocation } from "@pragma/runtime/own-location";
import { findTillOf, type TillRow } from "./queries/tills.ts";
import type { TillIngest } from "./till-ingest.ts";

/**
 * The till of this id, as far as the key may know of it.
 *
 * @throws `ApiError` till_not_found, also for a till of another location.
 */
export async function knownTill(
  { db }: Pick<TillIngest, "db">,
  { id, principal }: { id: string; principal: Principal },
): Promise<TillRow> {
  const till = await findTillOf(db.sql, readableLocation(principal), id);
  if (!till) throw tillNotFound(id);
  return till;
}

export function tillNotFound(id: string): ApiError {
  return new ApiError("till_not_found", { detail: `This location has no till ${id}.` });
}
