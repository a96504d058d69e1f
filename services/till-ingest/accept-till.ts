import { ApiError } from "@pragma/contracts/errors";
import type { LocationRef, Principal } from "@pragma/contracts/principal";
import type { SqlClient } from "@pragma/runtime/database/postgres";
import { consumeDailyQuota } from "@pragma/runtime/limits/daily-quota";
import { publishEvent } from "@pragma/runtime/messaging/outbox";
import type { RequestContext } from "@pragma/runtime/observability/request-context";
import type { TillIngestConfig, TillIngestContext } from "./context.ts";
import { publishTillPushed } from "./publish-till-events.ts";
import { confirmUpload, recordPendingUpload } from "./queries/pending-uploads.ts";
import { insertTillVersion } from "./queries/till-versions.ts";
import { createNextRevision, findTill, insertTill, lockTill, type NewTill, type TillRow } from "./queries/tills.ts";
import type { ReceivedTill } from "./validation/till-body-reader.ts";

interface TillSubmission {
  location: LocationRef;
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
  { db, objects, sweepAfter, config }: Pick<TillIngestContext, "db" | "objects" | "sweepAfter" | "config">,
  { location, till, principal, context }: TillSubmission,
): Promise<AcceptedTill> {
  const row = toNewTill(location, till);
  const existing = await findTill(db.sql, row.id);
  if (existing) return { till: requireSameTill(existing, row), isNew: false };

  await consumeTillQuotas(db.sql, config, row);
  row.objectKey = await recordPendingUpload(db.sql, row.objectKey);
  await context.runStep({ name: "keep the till's body" }, () => objects.put(row.objectKey, till.bytes));
  return db.transaction(async (tx) => {
    const inserted = await insertTill(tx, row, sweepAfter);
    if (!inserted) {
      const first = await findTill(tx, row.id);
      // No till is ever removed.
      const same = requireSameTill(first as TillRow, row);
      await confirmUpload(tx, row.objectKey);
      return { till: same, isNew: false };
    }
    await insertTillVersion(tx, inserted, { reason: "push", keyId: principal.keyId, consumer: principal.consumer });
    const { traceparent } = context;
    await publishTillPushed(tx, inserted, { reason: "push", traceparent });
    const { device } = till.facts;
    if (device) {
      const data = { locationId: row.locationId, ...device, seenAt: inserted.createdAt.toISOString() };
      await publishEvent(tx, "device.seen", { subject: device.deviceId, data, traceparent });
    }
    await confirmUpload(tx, inserted.objectKey);
    return { till: inserted, isNew: true };
  });
}

/** A till as its body says it is. */
function toNewTill(
  { id: locationId, application, timeZone }: LocationRef,
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
    objectKey: tillObjectKey(locationId, hash),
    size: bytes.byteLength,
    timeZone,
  };
}

/** Bodies are kept by location and content, spread over 256 folders in each. */
export function tillObjectKey(locationId: string, hash: string): string {
  return `tills/${locationId}/${hash.slice(0, 2)}/${hash}`;
}

/** Whether a till came to be what it is by this body: it has it, or had it until its personal data was erased. */
function isSameTillBody(known: TillRow, { hash }: Pick<NewTill, "hash">): boolean {
  return known.hash === hash || known.pushedHash === hash;
}

function requireSameTill(known: TillRow, pushed: NewTill): TillRow {
  if (known.locationId === pushed.locationId && isSameTillBody(known, pushed)) return known;
  throw new ApiError("till_conflict", {
    detail:
      "This till id is taken. A till that was pushed is not changed by pushing it again: give each till an id of its own.",
  });
}

/**
 * Puts another body in the place of a till's, as its next revision: its report keeps its id, and everything else follows
 * from the new body. Earlier bodies are kept. The body that it has already changes nothing, nor does the one that it had
 * until personal data was erased from it: a request that is repeated brings none of that back.
 *
 * @throws `ApiError` till_not_found when the location has no such till; quota_exceeded when it has made too many
 * revisions today.
 */
export async function replaceTill(
  { db, objects, sweepAfter, config, revisionQuota }: TillIngestContext,
  { location, till, principal, context }: TillSubmission,
): Promise<TillRow> {
  const body = toNewTill(location, till);
  const before = await findTill(db.sql, body.id);
  if (before?.locationId === location.id && isSameTillBody(before, body)) return before;

  await consumeTillQuotas(db.sql, config, body);
  body.objectKey = await recordPendingUpload(db.sql, body.objectKey);
  await objects.put(body.objectKey, till.bytes);
  return db.transaction(async (tx) => {
    const existing = await lockTill(tx, body.id);
    if (existing?.locationId !== location.id) {
      throw new ApiError("till_not_found", { detail: `This location has no till ${body.id} to replace: push it.` });
    }
    // Erased since: what was written above is nobody's then, and goes as an orphan.
    if (existing.pushedHash === body.hash) return existing;
    if (existing.hash === body.hash) {
      await confirmUpload(tx, body.objectKey);
      return existing;
    }
    await consumeDailyQuota(tx, { locationId: location.id, quota: revisionQuota, amount: 1 });
    const replaced = await createNextRevision(tx, existing, { body, sweepAfter });
    await insertTillVersion(tx, replaced, { reason: "replace", keyId: principal.keyId, consumer: principal.consumer });
    await publishTillPushed(tx, replaced, { reason: "replace", traceparent: context.traceparent });
    await confirmUpload(tx, body.objectKey);
    return replaced;
  });
}

/**
 * Counts a new body of a till against its location's quotas of today, before the body is stored.
 *
 * @throws `ApiError` quota_exceeded.
 */
async function consumeTillQuotas(
  sql: SqlClient,
  { TILLS_PER_DAY, TILL_BYTES_PER_DAY }: TillIngestConfig,
  { locationId, size }: NewTill,
): Promise<void> {
  const tills = { name: "tills", maximum: TILLS_PER_DAY, unit: "tills" };
  const bytes = { name: "till_bytes", maximum: TILL_BYTES_PER_DAY, unit: "bytes" };
  await consumeDailyQuota(sql, { locationId, quota: tills, amount: 1 });
  await consumeDailyQuota(sql, { locationId, quota: bytes, amount: size });
}
