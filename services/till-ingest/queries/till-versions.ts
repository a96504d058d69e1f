import type { BusEventData } from "@pragma/contracts/events";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { TillRow } from "./tills.ts";

/**
 * What created a revision: the first push of the till, a replacement of its body, or a reprocessing of the current
 * body.
 */
export type TillRevisionReason = BusEventData<"till.pushed">["reason"];

/** Inserts the row of a till's current revision, with its author. */
export async function insertTillRevision(
  tx: SqlTransaction,
  { locationId, id, revision, format, hash, objectKey, size }: TillRow,
  { reason, keyId, consumer }: { reason: TillRevisionReason; keyId: string; consumer: string },
): Promise<void> {
  const row = { locationId, tillId: id, revision, reason, format, hash, objectKey, size, keyId, consumer };
  await tx`insert into till_versions ${tx(row)}`;
}

/** Returns the reasons of the current revisions of these tills of a location, by till id. */
export async function findRevisionReasons(
  tx: SqlTransaction,
  { locationId, tillIds }: { locationId: string; tillIds: string[] },
): Promise<Map<string, TillRevisionReason>> {
  const rows = await tx<{ tillId: string; reason: TillRevisionReason }[]>`
    select till_versions.till_id, till_versions.reason
    from till_versions join tills
      on tills.location_id = till_versions.location_id and tills.id = till_versions.till_id
      and tills.revision = till_versions.revision
    where tills.location_id = ${locationId} and tills.id = any(${tillIds}::uuid[])`;
  return new Map(rows.map(({ tillId, reason }) => [tillId, reason]));
}

/**
 * Marks every body of a till except the given one as removed, and schedules the removal of their objects. Returns the
 * keys of these objects.
 */
export async function scheduleOtherTillBodyRemoval(
  tx: SqlTransaction,
  { locationId, tillId, objectKey }: { locationId: string; tillId: string; objectKey: string },
): Promise<string[]> {
  const removed = await tx<{ objectKey: string }[]>`
    update till_versions set body_removed_at = now()
    where location_id = ${locationId} and till_id = ${tillId} and object_key <> ${objectKey}
      and body_removed_at is null
    returning object_key`;
  return scheduleObjectRemoval(tx, removed);
}

/** A revision of a location's till. */
interface TillRevisionKey {
  locationId: string;
  tillId: string;
  revision: number;
}

/** Returns the SQL condition for bodies that were stored, and for tills that were last replaced, `days` days ago. */
const isReplacedSince = (sql: SqlClient | SqlTransaction, days: number) => sql`
  version.body_removed_at is null and version.object_key <> till.object_key
  and version.created_at < now() - make_interval(days => ${days})
  and till.updated_at < now() - make_interval(days => ${days})`;

/**
 * Returns up to `limit` revisions with a replaced body, oldest first, of the locations of one partition. Selects bodies
 * that were stored at least `days` days ago, of tills that were last replaced at least `days` days ago.
 */
export async function listReplacedTillBodies(
  sql: SqlClient,
  { suffix, days, limit }: { suffix: string; days: number; limit: number },
): Promise<TillRevisionKey[]> {
  return sql<TillRevisionKey[]>`
    select version.location_id, version.till_id, version.revision
    from ${sql(`till_versions${suffix}`)} version join ${sql(`tills${suffix}`)} till
      on till.location_id = version.location_id and till.id = version.till_id
    where ${isReplacedSince(sql, days)}
    order by version.created_at limit ${limit}`;
}

/**
 * Marks these replaced bodies of a location as removed, and schedules the removal of their objects. Returns the keys of
 * the objects.
 */
export async function scheduleObjectRemovals(
  tx: SqlTransaction,
  { locationId, revisions, days }: { locationId: string; revisions: TillRevisionKey[]; days: number },
): Promise<string[]> {
  const tillIds = revisions.map(({ tillId }) => tillId);
  const numbers = revisions.map(({ revision }) => revision);
  const removed = await tx<{ objectKey: string }[]>`
    update till_versions version set body_removed_at = now()
    from tills till, unnest(${tillIds}::uuid[], ${numbers}::int[]) as replaced (till_id, revision)
    where version.location_id = ${locationId} and till.location_id = ${locationId}
      and version.till_id = replaced.till_id and version.revision = replaced.revision and till.id = replaced.till_id
      and ${isReplacedSince(tx, days)}
    returning version.object_key`;
  return scheduleObjectRemoval(tx, removed);
}

/** Records the objects as stale uploads, so that they are removed once no till refers to them. Returns their keys. */
async function scheduleObjectRemoval(tx: SqlTransaction, removed: { objectKey: string }[]): Promise<string[]> {
  const keys = [...new Set(removed.map(({ objectKey }) => objectKey))];
  await tx`
    insert into pending_uploads (key, created_at)
    select key, now() - interval '25 hours' from unnest(${keys}::text[]) as gone (key)
    on conflict (key) do nothing`;
  return keys;
}
