import { ApiError } from "@pragma/contracts/errors";
import { racePromiseWithAbort } from "../concurrency/race-promise-with-abort.ts";
import type { Logger } from "../observability/logger.ts";
import { createOutageLog } from "../observability/outage-log.ts";
import type { SqlClient, SqlTransaction } from "./sql-types.ts";

/** The maximum lag of a replica that serves reads, in seconds. Far less than the age at which writes are forgotten. */
export const maxReplicaLagSeconds = 60;
/** The maximum number of a location's recent writes to compare. With more, its reads use the primary server. */
const maxComparedWrites = 100;
/** After these times, a replica that does not respond counts as failed. */
const checkTimeoutMs = 1_000;
const readTimeoutMs = 10_000;
/** For how long reads use only the primary server after the replica has failed, in milliseconds. */
const retryReplicaAfterMs = 5_000;

/** Every transaction that changes what `Database.read` returns for a location must call this function. */
export async function recordLocationWrite(tx: SqlTransaction, locationId: string): Promise<void> {
  await tx`insert into location_writes (location_id) values (${locationId})`;
}

/** Updates the time by which a replica's lag is measured. */
export async function updateReplicaHeartbeat(sql: SqlClient): Promise<void> {
  await sql`
    insert into replica_heartbeat (beat_at) values (now()) on conflict (id) do update set beat_at = excluded.beat_at`;
}

/**
 * Returns a function that runs reads of a location on the replica, and returns undefined if it fails or lacks writes of the
 * location. The primary server lists the recent writes; older ones are on every replica whose lag is below the maximum.
 */
export function createReplicaReader({ primary, replica }: Record<"primary" | "replica", SqlClient>, log: Logger) {
  const outage = createOutageLog(log, "the read replica is not available, so that the primary server serves all reads");
  let unavailableUntilMs = 0;

  async function hasAllWrites(locationId: string): Promise<boolean> {
    const [expected] = await primary<[{ oldestHeartbeat: string; writeIds: string[] }]>`
      select (now() - make_interval(secs => ${maxReplicaLagSeconds}))::text as oldest_heartbeat, array(
        select id::text from location_writes where location_id = ${locationId} limit ${maxComparedWrites + 1}
      ) as write_ids`;
    const { oldestHeartbeat, writeIds } = expected;
    if (writeIds.length > maxComparedWrites) return false;
    const check = replica<{ isComplete: boolean }[]>`
      select beat_at > ${oldestHeartbeat}::timestamptz and ${writeIds.length} = (
        select count(*) from location_writes where location_id = ${locationId} and id = any(${writeIds}::bigint[])
      ) as is_complete
      from replica_heartbeat`;
    const [copy] = await racePromiseWithAbort(check, AbortSignal.timeout(checkTimeoutMs));
    return copy?.isComplete ?? false;
  }

  return async <T>(locationId: string, work: (sql: SqlClient) => Promise<T>): Promise<{ result: T } | undefined> => {
    if (performance.now() < unavailableUntilMs) return undefined;
    try {
      if (!(await hasAllWrites(locationId))) return undefined;
      const result = await racePromiseWithAbort(work(replica), AbortSignal.timeout(readTimeoutMs));
      outage.recordRecovery();
      return { result };
    } catch (error) {
      if (error instanceof ApiError) throw error;
      outage.recordFailure(error);
      unavailableUntilMs = performance.now() + retryReplicaAfterMs;
      return undefined;
    }
  };
}
