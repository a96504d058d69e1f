import { sleep } from "@pragma/runtime/concurrency/sleep";
import type { Database } from "@pragma/runtime/database/postgres";
import { isTransient } from "@pragma/runtime/retries/transient-error";

/**
 * Returns the UTC day (`YYYY-MM-DD`) of a message, which selects the partition of the message and of its attempts. A
 * delivery is created at the same time as its message.
 */
export const getMessageDay = (createdAt: Date): string => createdAt.toISOString().slice(0, 10);

/** Days for which partitions exist ahead, so that no rows go to the default partitions while no instance runs. */
const daysAhead = 7;
const dayMs = 24 * 3_600_000;
const maxLockAttempts = 20;

/** Creates the partitions of the coming days, and of days whose rows are in the default partitions. */
export async function createDayPartitions({ sql }: Pick<Database, "sql">, now: Date): Promise<string[]> {
  const lastDay = getMessageDay(new Date(now.getTime() + daysAhead * dayMs));
  const [row] = await repeatWhileLocked(
    () => sql<[{ created: string[] }]>`
      select create_day_partitions(${getMessageDay(now)}::date, ${lastDay}::date) as created`,
  );
  return row.created;
}

/**
 * Drops the partitions of days before a day on which no delivery was created that still exists. Returns their names.
 */
export async function dropDayPartitions({ sql }: Pick<Database, "sql">, before: string): Promise<string[]> {
  const dropped: string[] = [];
  for (;;) {
    const [row] = await repeatWhileLocked(
      () => sql<[{ partition: string | null }]>`select drop_day_partition(${before}::date) as partition`,
    );
    if (row.partition === null) return dropped;
    dropped.push(row.partition);
  }
}

/** Repeats `work` after lock timeouts. Other statements wait for at most the timeout, and proceed between attempts. */
async function repeatWhileLocked<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === maxLockAttempts || !isTransient(error)) throw error;
      await sleep(200 + Math.random() * 300);
    }
  }
}
