import { ApiError, type ExceededLimit } from "@pragma/contracts/errors";
import type { SqlClient, SqlTransaction } from "../database/postgres.ts";

/** How much one location may use of something in a day (UTC), counted in its unit. */
export type DailyQuota = ExceededLimit;

interface QuotaUsage {
  locationId: string;
  quota: DailyQuota;
  amount: number;
}

/**
 * Counts `amount` against a location's quota of today. In the transaction of the work that it pays for, a rollback
 * refunds it.
 *
 * @throws `ApiError` quota_exceeded, with Retry-After until the next day begins.
 */
export async function consumeDailyQuota(sql: SqlClient | SqlTransaction, use: QuotaUsage): Promise<void> {
  if (!(await tryConsumeDailyQuota(sql, use))) throw createQuotaExceededError(use.quota);
}

/** The same, but returns whether it was there; where it was not, nothing is counted. */
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

function createQuotaExceededError({ name, maximum, unit }: DailyQuota): ApiError {
  const now = new Date();
  const tomorrow = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1);
  return new ApiError("quota_exceeded", {
    detail: `The location may use ${maximum} ${unit} a day of ${name}, and this request would exceed that. The quota starts again at 00:00 UTC.`,
    limit: { name, maximum, unit: `${unit} per day` },
    headers: { "retry-after": String(Math.max(1, Math.ceil((tomorrow - now.getTime()) / 1000))) },
  });
}
