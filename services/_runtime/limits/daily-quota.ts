import { ApiError, type ExceededLimit } from "@pragma/contracts/errors";
import type { SqlClient, SqlTransaction } from "../database/postgres.ts";

/** The maximum amount that one location can use in a day (UTC), in the quota's unit. */
export type LocationDailyQuota = ExceededLimit;

interface QuotaUsage {
  locationId: string;
  quota: LocationDailyQuota;
  amount: number;
}

/**
 * Adds `amount` to a location's usage of a quota for today (UTC). Call it in the transaction that stores the data, so
 * that a rollback also reverts the usage.
 *
 * @throws `ApiError` quota_exceeded, with Retry-After until the next day begins.
 */
export async function consumeDailyQuotaOrThrow(sql: SqlClient | SqlTransaction, usage: QuotaUsage): Promise<void> {
  if (!(await tryConsumeDailyQuota(sql, usage))) throw createQuotaExceededError(usage.quota);
}

/** Adds `amount` and returns true. If the quota would be exceeded, adds nothing and returns false. */
export async function tryConsumeDailyQuota(
  sql: SqlClient | SqlTransaction,
  { locationId, quota: { name, maximum }, amount }: QuotaUsage,
): Promise<boolean> {
  if (amount > maximum) return false;
  const { count } = await sql`
    insert into daily_usage as usage (location_id, day, quota, used)
    values (${locationId}, (now() at time zone 'UTC')::date, ${name}, ${amount})
    on conflict (location_id, quota, day) do update set used = usage.used + excluded.used
    where usage.used + excluded.used <= ${maximum}`;
  return count > 0;
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
