import { randomUUID } from "node:crypto";
import type { WebhookDeliveryRecovery } from "@pragma/contracts/webhook-delivery";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { WithDateFields } from "./row-types.ts";

export type DeliveryRecoveryRow = WithDateFields<WebhookDeliveryRecovery, "createdAt" | "since" | "finishedAt">;

export const deliveryRecoveryColumns = (sql: SqlClient | SqlTransaction) => sql`
  id, created_at, webhook_id, since, case when finished_at is null then 'running' else 'done' end as state, total,
  recovered, finished_at`;

/**
 * Returns the SQL condition for the deliveries to recover: failed deliveries, and deliveries that have a failed attempt
 * and are pending or in flight. Test messages are excluded, because they matter only at the time of the test.
 */
const failedCondition = (sql: SqlClient | SqlTransaction) =>
  sql`(event <> 'test' and (state = 'failed' or (state <> 'succeeded' and failures > 0)))`;

/**
 * Starts the recovery of the failed deliveries that were created since a given time. A webhook has at most one
 * unfinished recovery, so that repeated requests cannot delay the recoveries of other webhooks. If the webhook already
 * has an unfinished recovery, that recovery restarts from the earlier of its own time and the given time.
 */
export async function upsertBulkDeliveryRecoveryRow(
  tx: SqlTransaction,
  { locationId, webhookId, since, now }: { locationId: string; webhookId: string; since: string; now: Date },
): Promise<DeliveryRecoveryRow> {
  const isLocated = tx`location_id = ${locationId}`;
  const [row] = await tx<[DeliveryRecoveryRow]>`
    with requested as (
      select min(since) as since from (
        select since from delivery_recoveries
        where ${isLocated} and webhook_id = ${webhookId} and finished_at is null
        union all select ${since}::timestamptz
      ) as sinces
    )
    insert into delivery_recoveries as existing (location_id, id, webhook_id, since, created_at, total)
    select ${locationId}, ${randomUUID()}, ${webhookId}, requested.since, ${now}, (
      select count(*) from webhook_deliveries
      where ${isLocated} and webhook_id = ${webhookId}
        and created_at >= requested.since and created_at <= ${now} and ${failedCondition(tx)}
    ) from requested
    on conflict (location_id, webhook_id) where finished_at is null do update set
      since = least(existing.since, excluded.since), created_at = excluded.created_at, total = excluded.total,
      recovered = 0, cursor_created_at = null, cursor_id = null
    returning ${deliveryRecoveryColumns(tx)}`;
  return row;
}

const recoveryBatchSize = 500;

interface UnfinishedRecovery extends Pick<DeliveryRecoveryRow, "id" | "webhookId" | "since" | "createdAt"> {
  locationId: string;
  cursorCreatedAt: Date | null;
  cursorId: string | null;
}

export async function hasUnfinishedRecovery(sql: SqlClient): Promise<boolean> {
  const [unfinished] = await sql`select from delivery_recoveries where finished_at is null limit 1`;
  return unfinished !== undefined;
}

/**
 * Requeues the next batch of deliveries of one recovery. Among the recoveries that no other instance has locked,
 * selects the recovery with the fewest recovered deliveries. Each delivery becomes due with the first attempt of a new
 * generation. The cursor is stored in the same transaction, so that the recovery continues from there after a crash. A
 * delivery with an attempt in flight is only marked, and is requeued unless that attempt succeeds.
 *
 * @returns the id of the webhook; undefined when there is no recovery to continue.
 */
export async function requeueRecoveryBatch(tx: SqlTransaction, now: Date): Promise<string | undefined> {
  const [recovery] = await tx<UnfinishedRecovery[]>`
    select location_id, id, webhook_id, since, created_at, cursor_created_at, cursor_id
    from delivery_recoveries where finished_at is null
    order by recovered, created_at limit 1 for update skip locked`;
  if (!recovery) return undefined;
  const { locationId, id, webhookId, since, createdAt, cursorCreatedAt, cursorId } = recovery;
  const isLocated = tx`location_id = ${locationId}`;
  const remainingCondition = cursorCreatedAt ? tx`(created_at, id) > (${cursorCreatedAt}, ${cursorId})` : tx`true`;
  const batch = await tx<{ id: string; createdAt: Date }[]>`
    select id, created_at from webhook_deliveries
    where ${isLocated} and webhook_id = ${webhookId} and created_at >= ${since} and created_at <= ${createdAt}
      and ${remainingCondition} and ${failedCondition(tx)}
    order by created_at, id limit ${recoveryBatchSize}
    for update`;
  const batchCondition = tx`${isLocated} and id = any(${batch.map((delivery) => delivery.id)}::uuid[])`;
  await tx`update webhook_deliveries set retry_requested = true where ${batchCondition} and state = 'sending'`;
  await tx`
    update webhook_deliveries set
      state = 'pending', generation = generation + 1, attempt = 1, failures = 0, due_at = ${now}
    where ${batchCondition} and state <> 'sending'`;
  const last = batch.at(-1);
  await tx`
    update delivery_recoveries set
      recovered = recovered + ${batch.length},
      cursor_created_at = ${last?.createdAt ?? cursorCreatedAt}, cursor_id = ${last?.id ?? cursorId},
      finished_at = ${batch.length < recoveryBatchSize ? now : null}
    where ${isLocated} and id = ${id}`;
  return webhookId;
}
