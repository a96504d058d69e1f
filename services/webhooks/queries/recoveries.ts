import { randomUUID } from "node:crypto";
import type { WebhookDeliveryRecovery } from "@pragma/contracts/webhook-delivery";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { WithDates } from "./row-types.ts";

/** A recovery as replies show it, with dates. */
export type DeliveryRecoveryRow = WithDates<WebhookDeliveryRecovery, "createdAt" | "since" | "finishedAt">;

/** The columns of a `DeliveryRecoveryRow`. */
export const deliveryRecoveryColumns = (sql: SqlClient | SqlTransaction) => sql`
  id, created_at, webhook_id, since, case when finished_at is null then 'running' else 'done' end as state, total,
  recovered, finished_at`;

/**
 * Deliveries that failed for good, or failed and wait for another attempt, or are in the midst of one. A test message was
 * for whoever tried the endpoint then.
 */
const failedCondition = (sql: SqlClient | SqlTransaction) =>
  sql`(event <> 'test' and (state = 'failed' or (state <> 'succeeded' and failures > 0)))`;

/**
 * Begins a recovery of what has failed since a time. A webhook has one unfinished recovery, lest whoever asks for many
 * holds up those of others: one that is there begins again, since the earlier of both times.
 */
export async function startDeliveryRecovery(
  tx: SqlTransaction,
  { webhookId, since, now }: { webhookId: string; since: string; now: Date },
): Promise<DeliveryRecoveryRow> {
  const [row] = await tx<[DeliveryRecoveryRow]>`
    with asked as (
      select min(since) as since from (
        select since from recoveries where webhook_id = ${webhookId} and finished_at is null
        union all select ${since}::timestamptz
      ) as sinces
    )
    insert into recoveries as known (id, webhook_id, since, created_at, total)
    select ${randomUUID()}, ${webhookId}, asked.since, ${now}, (
      select count(*) from deliveries
      where webhook_id = ${webhookId} and created_at >= asked.since and created_at <= ${now} and ${failedCondition(tx)}
    ) from asked
    on conflict (webhook_id) where finished_at is null do update set
      since = least(known.since, excluded.since), created_at = excluded.created_at, total = excluded.total,
      recovered = 0, reached_at = null, reached_id = null
    returning ${deliveryRecoveryColumns(tx)}`;
  return row;
}

/** How many deliveries of a recovery are made due in one transaction. */
const recoveryBatchSize = 500;

interface UnfinishedRecovery {
  id: string;
  webhookId: string;
  since: Date;
  createdAt: Date;
  reachedAt: Date | null;
  reachedId: string | null;
}

/**
 * Does the next portion of the recovery that has come least far, of those that no one else works on: makes it due, from
 * the first attempt of another generation, and records the place reached, so that it goes on from there whatever
 * happens. What an attempt is under way of is made again if that fails.
 *
 * @returns its webhook; undefined when no recovery is left to do.
 */
export async function recoverNextDeliveryBatch(tx: SqlTransaction, now: Date): Promise<string | undefined> {
  const [recovery] = await tx<UnfinishedRecovery[]>`
    select id, webhook_id, since, created_at, reached_at, reached_id from recoveries where finished_at is null order by recovered, created_at limit 1 for update skip locked`;
  if (!recovery) return undefined;
  const { id, webhookId, since, createdAt, reachedAt, reachedId } = recovery;
  const remainingCondition = reachedAt ? tx`(created_at, id) > (${reachedAt}, ${reachedId})` : tx`true`;
  const batch = await tx<{ id: string; createdAt: Date }[]>`
    select id, created_at from deliveries
    where webhook_id = ${webhookId} and created_at >= ${since} and created_at <= ${createdAt} and ${remainingCondition}
      and ${failedCondition(tx)}
    order by created_at, id limit ${recoveryBatchSize}
    for update`;
  const batchCondition = tx`id = any(${batch.map((delivery) => delivery.id)}::uuid[])`;
  await tx`update deliveries set again = true where ${batchCondition} and state = 'sending'`;
  await tx`
    update deliveries set
      state = 'pending', generation = generation + 1, attempt = 1, failures = 0, due_at = ${now}
    where ${batchCondition} and state <> 'sending'`;
  const last = batch.at(-1);
  await tx`
    update recoveries set
      recovered = recovered + ${batch.length},
      reached_at = ${last?.createdAt ?? reachedAt}, reached_id = ${last?.id ?? reachedId},
      finished_at = ${batch.length < recoveryBatchSize ? now : null}
    where id = ${id}`;
  return webhookId;
}
