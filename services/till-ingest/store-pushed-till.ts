import { ApiError } from "@pragma/contracts/errors";
import type { LocationRef, Principal } from "@pragma/contracts/principal";
import { consumeDailyQuotaOrThrow, consumeDailyQuotasOrThrow } from "@pragma/runtime/admission/daily-quota";
import type { Database, SqlClient } from "@pragma/runtime/database/postgres";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import type { TillIngestServiceContext } from "./context.ts";
import { buildTillObjectKey, confirmTillObjectUpload, recordPendingUpload } from "./queries/pending-uploads.ts";
import {
  claimTillId,
  findTillLocationId,
  findTillRow,
  lockTillRow,
  type NewTillRow,
  type TillRow,
  tillColumns,
} from "./queries/tills.ts";
import { createReplacedTillNotFoundError } from "./resolve-till-location.ts";
import { createNextTillRevision, pendingResultColumns, recordTillRevision } from "./till-revisions.ts";
import type { TillMetadataWithBodyBytes } from "./validation/parse-till-body.ts";

export interface TillSubmission {
  location: LocationRef;
  till: TillMetadataWithBodyBytes;
  principal: Principal;
  context: ObservabilityContext;
}

/**
 * Stores a till's exact bytes, then the till and its events in one transaction. Returns the existing till if the
 * location already pushed the same bytes with this id. Of concurrent pushes of a till, exactly one creates it. @throws
 * `ApiError` till_conflict if the id exists with other bytes or in another location; quota_exceeded.
 */
export async function storePushedTill(
  { db, objects, requeueAfterSeconds, quotasOf }: TillIngestServiceContext,
  { location, till, principal, context }: TillSubmission,
): Promise<{ till: TillRow; isNew: boolean }> {
  const row = toNewTill(location, till);
  // Compressing the body takes as long as the queries before the upload.
  const compression = objects.toStored(row.objectKey, till.bytes);
  // A push that is rejected does not wait for the compression.
  compression.catch(() => {});
  const existing = await requireAvailableTillId(db, row);
  if (existing) return { till: existing, isNew: false };

  await countUpload(db.sql, quotasOf(location), row);
  const stored = await compression;
  await context.runStep({ name: "store till body" }, () => objects.putStored(row.objectKey, stored));
  return db.transaction(async (tx) => {
    const claimant = await claimTillId(tx, { tillId: row.id, locationId: row.locationId });
    if (claimant !== row.locationId) throw createTillConflictError();
    const first = { ...row, revision: 1 };
    // Waits for concurrent inserts.
    const [inserted] = await tx<TillRow[]>`
      insert into tills ${tx({ ...first, ...pendingResultColumns(first, requeueAfterSeconds) })}
      on conflict do nothing
      returning ${tillColumns(tx)}`;
    if (!inserted) {
      // A concurrent push inserted the till first. The row exists, because the directory row is locked, without which no till is deleted.
      const concurrent = await findTillRow(tx, row);
      const till = requireSameTill(concurrent as TillRow, row);
      await confirmTillObjectUpload(tx, row.objectKey);
      return { till, isNew: false };
    }
    const { traceparent } = context;
    const { device } = till.metadata;
    // None of these statements waits for the result of another one.
    await Promise.all([
      recordTillRevision(tx, inserted, { reason: "push", author: principal, traceparent }),
      device &&
        writeEventToOutbox(tx, "device.seen", {
          subject: device.deviceId,
          data: { locationId: inserted.locationId, ...device, seenAt: inserted.createdAt.toISOString() },
          traceparent,
        }),
    ]);
    await confirmTillObjectUpload(tx, inserted.objectKey);
    return { till: inserted, isNew: true };
  });
}

/** Returns the till with this id if the location has pushed it with the same body. @throws `ApiError` till_conflict. */
export async function requireAvailableTillId(
  db: Database,
  row: Pick<NewTillRow, "id" | "locationId" | "hash">,
): Promise<TillRow | undefined> {
  const owner = await findTillLocationId(db, row.id);
  if (owner === undefined) return undefined;
  if (owner !== row.locationId) throw createTillConflictError();
  const existing = await findTillRow(db.sql, row);
  return existing && requireSameTill(existing, row);
}

function toNewTill(
  { id: locationId, application, timeZone }: LocationRef,
  { metadata, hash, bytes }: TillMetadataWithBodyBytes,
): NewTillRow {
  const { tillId: id, serverId, format, isTraining, orderCount } = metadata;
  const body = { hash, objectKey: buildTillObjectKey({ locationId, hash }), size: bytes.byteLength };
  return { id, locationId, application, serverId, format, isTraining, timeZone, orderCount, ...body };
}

/** Returns whether the till has this body, or had it before personal data was erased. */
function isSameTillBody(existing: TillRow, { hash }: Pick<NewTillRow, "hash">): boolean {
  return existing.hash === hash || existing.pushedHash === hash;
}

function requireSameTill(existing: TillRow, pushed: Pick<NewTillRow, "hash">): TillRow {
  if (isSameTillBody(existing, pushed)) return existing;
  throw createTillConflictError();
}

/** Does not reveal whether the till has other bytes or another location. */
function createTillConflictError(): ApiError {
  return new ApiError("till_conflict", {
    detail:
      "This till ID is already in use. A push never changes an existing till. To correct the till, replace it with `PUT /v1/tills/{id}`. If that returns 404, another location uses the ID: push your till with a new ID.",
  });
}

/**
 * Replaces a till's body and returns the till with its next revision. Earlier bodies are kept. Nothing changes if the
 * new body equals the current body, or the body before an erasure of personal data, which a repeated request must not
 * restore. @throws `ApiError` till_not_found if the location has no such till; quota_exceeded.
 */
export async function replaceTillBody(
  { db, objects, requeueAfterSeconds, quotasOf }: TillIngestServiceContext,
  { location, till, principal, context }: TillSubmission,
): Promise<TillRow> {
  const body = toNewTill(location, till);
  const before = await findTillRow(db.sql, body);
  if (before && isSameTillBody(before, body)) return before;

  await countUpload(db.sql, quotasOf(location), body);
  await objects.put(body.objectKey, till.bytes);
  return db.transaction(async (tx) => {
    const existing = await lockTillRow(tx, body);
    if (!existing) throw createReplacedTillNotFoundError(body.id);
    // The till's personal data was erased in the meantime. The body stored above is unused and is later removed.
    if (existing.pushedHash === body.hash) return existing;
    if (existing.hash === body.hash) {
      await confirmTillObjectUpload(tx, body.objectKey);
      return existing;
    }
    await consumeDailyQuotaOrThrow(tx, { locationId: location.id, quota: quotasOf(location).revisions, amount: 1 });
    const replaced = await createNextTillRevision(tx, existing, {
      ...{ body, reason: "replace", author: principal, traceparent: context.traceparent, requeueAfterSeconds },
    });
    await confirmTillObjectUpload(tx, body.objectKey);
    return replaced;
  });
}

/** Counts a body toward the quotas and records its upload before it is stored. Sets the key under which to store it. */
async function countUpload(
  sql: SqlClient,
  quotas: ReturnType<TillIngestServiceContext["quotasOf"]>,
  row: NewTillRow,
): Promise<void> {
  await consumeDailyQuotasOrThrow(sql, row.locationId, [
    { quota: quotas.tills, amount: 1 },
    { quota: quotas.bytes, amount: row.size },
    { quota: quotas.orders, amount: row.orderCount },
  ]);
  row.objectKey = await recordPendingUpload(sql, row.objectKey);
}
