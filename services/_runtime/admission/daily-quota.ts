import { ApiError, type ExceededLimit } from "@pragma/contracts/errors";
import type { SqlClient, SqlTransaction } from "../database/postgres.ts";

/** The maximum amount that one location can use in a day (UTC), in the quota's unit. */
export type LocationDailyQuota = ExceededLimit;

interface QuotaAmount {
  quota: LocationDailyQuota;
  amount: number;
}

type QuotaUsage = QuotaAmount & { locationId: string };

/** Adds to one quota as `consumeDailyQuotasOrThrow` does. @throws `ApiError` quota_exceeded */
export async function consumeDailyQuotaOrThrow(sql: SqlClient | SqlTransaction, usage: QuotaUsage): Promise<void> {
  await consumeDailyQuotasOrThrow(sql, usage.locationId, [usage]);
}

/** Adds `amount` and returns true. If the quota would be exceeded, adds nothing and returns false. */
export async function tryConsumeDailyQuota(sql: SqlClient | SqlTransaction, usage: QuotaUsage): Promise<boolean> {
  return (await addUsageOfToday(sql, usage.locationId, [usage])) === undefined;
}

/**
 * Adds amounts to a location's usage of quotas for today (UTC). Call it in the transaction that stores the data, because
 * only a rollback reverts the usage, also of the other quotas if one would be exceeded.
 *
 * @throws `ApiError` quota_exceeded for the first quota that would be exceeded.
 */
export async function consumeDailyQuotasOrThrow(
  sql: SqlClient | SqlTransaction,
  locationId: string,
  amounts: QuotaAmount[],
): Promise<void> {
  const exceeded = await addUsageOfToday(sql, locationId, amounts);
  if (exceeded) throw createQuotaExceededError(exceeded);
}

/** Adds the amounts that do not exceed their quotas, and returns the first quota that would be exceeded. */
async function addUsageOfToday(
  sql: SqlClient | SqlTransaction,
  locationId: string,
  amounts: QuotaAmount[],
): Promise<LocationDailyQuota | undefined> {
  const possible = amounts.filter(({ quota, amount }) => amount <= quota.maximum);
  const counted = await sql<{ quota: string }[]>`
    insert into daily_usage as usage (location_id, day, quota, used, maximum)
    select ${locationId}, (now() at time zone 'UTC')::date, quota, used, maximum
    from unnest(
      ${possible.map(({ quota }) => quota.name)}::text[], ${possible.map(({ amount }) => amount)}::bigint[],
      ${possible.map(({ quota }) => quota.maximum)}::bigint[]
    ) as added (quota, used, maximum)
    on conflict (location_id, quota, day)
      do update set used = usage.used + excluded.used, maximum = excluded.maximum
      where usage.used + excluded.used <= excluded.maximum
    returning quota`;
  const names = new Set(counted.map(({ quota }) => quota));
  return amounts.find(({ quota }) => !names.has(quota.name))?.quota;
}

function createQuotaExceededError({ name, maximum, unit }: LocationDailyQuota): ApiError {
  const now = new Date();
  const tomorrow = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1);
  return new ApiError("quota_exceeded", {
    detail: `This request would exceed the location's \`${name}\` quota of ${maximum} ${unit} per day. The quota resets at 00:00 UTC.`,
    limit: { name, maximum, unit: `${unit} per day` },
    headers: { "retry-after": String(Math.max(1, Math.ceil((tomorrow - now.getTime()) / 1000))) },
  });
}
