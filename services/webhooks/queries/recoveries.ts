import type { Recovery } from "@pragma/contracts/delivery";
import type { Sql, Transaction } from "@pragma/runtime/postgres";

type RecoveryDates = "createdAt" | "since" | "finishedAt";

/** A recovery as replies show it, with dates. */
export type RecoveryRow = Omit<Recovery, RecoveryDates> & {
  createdAt: Date;
  since: Date;
  finishedAt: Date | null;
};

const shown = (sql: Sql | Transaction) => sql`
  id, created_at as "createdAt", webhook_id as "webhookId", since,
  case when finished_at is null then 'running' else 'done' end as state, total, recovered,
  finished_at as "finishedAt"`;

/** Deliveries that failed for good, or failed and wait for another attempt, or are in the midst of one. */
const hasFailed = (sql: Sql | Transaction) => sql`(state = 'failed' or (state <> 'succeeded' and failures > 0))`;

/** Begins a recovery of what has failed since a time. */
export async function insertRecovery(
  tx: Transaction,
  { id, webhookId, since, now }: { id: string; webhookId: string; since: string; now: Date },
): Promise<RecoveryRow> {
  const [row] = await tx<[RecoveryRow]>`
    insert into recoveries (id, webhook_id, since, created_at, total)
    select ${id}, ${webhookId}, ${since}, ${now}, count(*) from deliveries
    where webhook_id = ${webhookId} and created_at >= ${since} and created_at <= ${now} and ${hasFailed(tx)}
    returning ${shown(tx)}`;
  return row;
}

export async function findRecovery(
  sql: Sql,
  { id, webhookId }: { id: string; webhookId: string },
): Promise<RecoveryRow | undefined> {
  const [row] = await sql<RecoveryRow[]>`
    select ${shown(sql)} from recoveries where id = ${id} and webhook_id = ${webhookId}`;
  return row;
}

/** An unfinished recovery and the place it has reached. */
export interface RecoveryPlace {
  id: string;
  webhookId: string;
  since: Date;
  createdAt: Date;
  reachedAt: Date | null;
  reachedId: string | null;
}

/** Locks the recovery that has come least far, of those that no one else works on. */
export async function lockNextRecovery(tx: Transaction): Promise<RecoveryPlace | undefined> {
  const [row] = await tx<RecoveryPlace[]>`
    select
      id, webhook_id as "webhookId", since, created_at as "createdAt", reached_at as "reachedAt",
      reached_id as "reachedId"
    from recoveries where finished_at is null order by recovered, created_at limit 1 for update skip locked`;
  return row;
}

/**
 * Makes the next portion of a recovery due, from the first attempt of another generation, and notes the place reached.
 * What an attempt is under way of is made again if that fails.
 *
 * @returns how many deliveries there were: fewer than `limit` when these were the last, and the recovery is finished.
 */
export async function recoverPortion(
  tx: Transaction,
  { id, webhookId, since, createdAt, reachedAt, reachedId }: RecoveryPlace,
  { limit, now }: { limit: number; now: Date },
): Promise<number> {
  const isLeft = reachedAt ? tx`(created_at, id) > (${reachedAt}, ${reachedId})` : tx`true`;
  const portion = await tx<{ id: string; created_at: Date }[]>`
    select id, created_at from deliveries
    where webhook_id = ${webhookId} and created_at >= ${since} and created_at <= ${createdAt} and ${isLeft}
      and ${hasFailed(tx)}
    order by created_at, id limit ${limit}
    for update`;
  const isTheirs = tx`id = any(${portion.map((delivery) => delivery.id)}::uuid[])`;
  await tx`update deliveries set again = true where ${isTheirs} and state = 'sending'`;
  await tx`
    update deliveries set
      state = 'pending', generation = generation + 1, attempt = 1, failures = 0, due_at = ${now}
    where ${isTheirs} and state <> 'sending'`;
  const last = portion.at(-1);
  await tx`
    update recoveries set
      recovered = recovered + ${portion.length},
      reached_at = ${last?.created_at ?? reachedAt}, reached_id = ${last?.id ?? reachedId},
      finished_at = ${portion.length < limit ? now : null}
    where id = ${id}`;
  return portion.length;
}
