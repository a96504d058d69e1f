import type { BusEventData } from "@pragma/contracts/events";
import type { Principal } from "@pragma/contracts/principal";
import type { SqlClient, SqlFragment, SqlTransaction } from "@pragma/runtime/database/postgres";
import { scheduleObjectRemoval } from "./pending-uploads.ts";
import type { TillRevisionKey } from "./tills.ts";

/** What created a revision: the first push, a replacement of the body, or a reprocessing of the current body. */
export type TillRevisionReason = BusEventData<"till.pushed">["reason"];

export type TillRevisionAuthor = Pick<Principal, "keyId" | "consumer">;

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

/** Marks bodies as removed, and schedules the removal of their objects. Returns the keys of these objects. */
async function markBodiesRemoved(tx: SqlTransaction, from: SqlFragment, condition: SqlFragment): Promise<string[]> {
  const removed = await tx<{ objectKey: string }[]>`
    update till_versions as version set body_removed_at = now() ${from}
    where ${condition} and version.body_removed_at is null
    returning version.object_key`;
  const keys = removed.map(({ objectKey }) => objectKey);
  return scheduleObjectRemoval(tx, keys, { ageHours: 25 });
}

/** Removes every body of a till except the given one. Returns the keys of the objects to remove. */
export function scheduleOtherTillBodyRemoval(
  tx: SqlTransaction,
  { locationId, tillId, objectKey }: { locationId: string; tillId: string; objectKey: string },
): Promise<string[]> {
  const isOther = tx`location_id = ${locationId} and till_id = ${tillId} and object_key <> ${objectKey}`;
  return markBodiesRemoved(tx, tx``, isOther);
}

/** Returns the SQL condition for bodies that were stored, and for tills that were last replaced, `days` days ago. */
const isReplacedSince = (sql: SqlClient | SqlTransaction, days: number) => sql`
  version.body_removed_at is null and version.object_key <> till.object_key
  and version.created_at < now() - make_interval(days => ${days})
  and till.updated_at < now() - make_interval(days => ${days})`;

/** Returns up to `limit` revisions of one partition whose body can be removed after `days` days, oldest first. */
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

/** Removes these replaced bodies of a location. Returns the keys of the objects to remove. */
export function scheduleReplacedBodyRemoval(
  tx: SqlTransaction,
  { locationId, revisions, days }: { locationId: string; revisions: TillRevisionKey[]; days: number },
): Promise<string[]> {
  const tillIds = revisions.map(({ tillId }) => tillId);
  const numbers = revisions.map(({ revision }) => revision);
  return markBodiesRemoved(
    tx,
    tx`from tills till, unnest(${tillIds}::uuid[], ${numbers}::int[]) as replaced (till_id, revision)`,
    tx`version.location_id = ${locationId} and till.location_id = ${locationId}
      and version.till_id = replaced.till_id and version.revision = replaced.revision and till.id = replaced.till_id
      and ${isReplacedSince(tx, days)}`,
  );
}
