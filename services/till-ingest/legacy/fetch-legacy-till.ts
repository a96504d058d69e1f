import type { LocationFacts } from "@pragma/contracts/account-lookups";
import { ApiError } from "@pragma/contracts/errors";
import type { LegacyTill } from "@pragma/contracts/legacy-till";
import type { Principal } from "@pragma/contracts/principal";
import type { RequestContext } from "@pragma/runtime/request-context";
import { acceptTill } from "../accept-till.ts";
import type { TillIngest } from "../till-ingest.ts";
import { askBackoffice, BackofficeFailure } from "./ask-backoffice.ts";
import { addressOf } from "./list-legacy-tills.ts";

/** Of a till's body, inflated. */
const tillLimit = 20 * 1024 * 1024;

interface FetchTill {
  wanted: LegacyTill;
  location: LocationFacts;
  principal: Principal;
  signal: AbortSignal;
  context: RequestContext;
}

/**
 * Fetches a till from its legacy backoffice and accepts it as if it were pushed.
 *
 * @throws `BackofficeFailure`; `ApiError` as a push does.
 */
export async function fetchLegacyTill(
  services: TillIngest,
  { wanted, location, principal, signal, context }: FetchTill,
): Promise<void> {
  const { timeout } = services.legacy;
  const address = addressOf(services.legacy, wanted.application);
  const bytes = await askBackoffice(address, `/tills/${wanted.serverId}`, { timeout, limit: tillLimit, signal });
  const till = await services.reader.read(bytes, "V1", location.id);
  if ("faults" in till) {
    const [first] = till.faults;
    throw new BackofficeFailure(
      `The till is not valid: ${till.count} faults, the first at ${first?.path}: ${first?.message}`,
    );
  }
  const { serverId, legacyLocation } = till.facts;
  const isOther = legacyLocation.application !== wanted.application || legacyLocation.legacyId !== wanted.legacyId;
  if (isOther)
    throw new BackofficeFailure(
      "The till that the backoffice gave belongs to another location than it was listed under.",
    );
  if (serverId !== null && serverId !== wanted.serverId) {
    throw new BackofficeFailure(`The backoffice gave another till: ${serverId}.`);
  }
  const facts = { ...till.facts, serverId: wanted.serverId };
  await acceptTill(services, { location, till: { ...till, facts }, principal, context });
}

/** Why a till could not be had, in words for the caller; undefined for what is a fault of this product. */
export function reasonOf(error: unknown): string | undefined {
  const isKnown = error instanceof BackofficeFailure || error instanceof ApiError;
  return isKnown ? error.message : undefined;
}
