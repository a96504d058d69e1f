import { ApiError } from "@pragma/contracts/errors";
import type { LocationFacts, Principal } from "@pragma/contracts/principal";
import type { RequestContext } from "@pragma/runtime/request-context";
import { announceDevice, announceTill } from "./announce-till.ts";
import { intend, settleIntent } from "./queries/object-intents.ts";
import { insertVersion } from "./queries/till-versions.ts";
import { findTill, insertTill, type NewTill, type TillRow } from "./queries/tills.ts";
import type { ReceivedTill } from "./till-body.ts";
import type { TillIngest } from "./till-ingest.ts";
import { consumeTillQuotas } from "./till-quotas.ts";

interface AcceptTill {
  location: LocationFacts;
  till: ReceivedTill;
  /** Who pushes it: kept with the revision. */
  principal: Principal;
  context: RequestContext;
}

/** A till that is held, and whether this is when it came in. */
export interface AcceptedTill {
  till: TillRow;
  isNew: boolean;
}

/**
 * Stores a till's exact bytes, then the till, its `till.pushed` event and that its device was seen in one transaction.
 * The same id with the same bytes in the same location is the same till, and nothing happens. Of pushes at the same
 * instant one is the first.
 *
 * @throws `ApiError` till_conflict when the id is held with other bytes or by another location: it does not say which.
 */
export async function acceptTill(
  { db, objects, sweepAfter, quotas }: Pick<TillIngest, "db" | "objects" | "sweepAfter" | "quotas">,
  { location, till, principal, context }: AcceptTill,
): Promise<AcceptedTill> {
  const row = newTill(location, till);
  const known = await findTill(db.sql, row.id);
  if (known) return { till: sameTill(known, row), isNew: false };

  await consumeTillQuotas(db.sql, quotas, row);
  row.objectKey = await intend(db.sql, row.objectKey);
  await context.step({ name: "keep the till's body" }, () => objects.put(row.objectKey, till.bytes));
  return db.transaction(async (tx) => {
    const inserted = await insertTill(tx, row, { sweepAfter });
    if (!inserted) {
      const first = await findTill(tx, row.id);
      if (!first) throw new Error(`Till ${row.id} was there a moment ago and is gone.`);
      const same = sameTill(first, row);
      await settleIntent(tx, row.objectKey);
      return { till: same, isNew: false };
    }
    await insertVersion(tx, inserted, { reason: "push", keyId: principal.keyId, consumer: principal.consumer });
    const { traceparent } = context;
    await announceTill(tx, inserted, { reason: "push", traceparent });
    await announceDevice(tx, inserted, { device: till.facts.device, traceparent });
    await settleIntent(tx, inserted.objectKey);
    return { till: inserted, isNew: true };
  });
}

/** A till as its body says it is. */
export function newTill(
  { id: locationId, application, timeZone }: LocationFacts,
  { facts, hash, bytes }: ReceivedTill,
): NewTill {
  return {
    id: facts.tillId,
    locationId,
    application,
    serverId: facts.format === "V1" ? facts.serverId : null,
    format: facts.format,
    isTraining: facts.isTraining,
    hash,
    objectKey: bodyKey(locationId, hash),
    size: bytes.byteLength,
    timeZone,
  };
}

/** Bodies are kept by location and content, spread over 256 folders in each. */
export function bodyKey(locationId: string, hash: string): string {
  return `tills/${locationId}/${hash.slice(0, 2)}/${hash}`;
}

/** Whether a till came to be what it is by this body: it has it, or had it until its personal data was erased. */
export function isBodyOf(known: TillRow, { hash }: Pick<NewTill, "hash">): boolean {
  return known.hash === hash || known.pushedHash === hash;
}

function sameTill(known: TillRow, pushed: NewTill): TillRow {
  if (known.locationId === pushed.locationId && isBodyOf(known, pushed)) return known;
  throw new ApiError("till_conflict", {
    detail:
      "This till id is taken. A till that was pushed is not changed by pushing it again: give each till an id of its own.",
  });
}
