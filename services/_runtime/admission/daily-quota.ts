import { ApiError, type ExceededLimit } from "@pragma/contracts/errors";
import type { SqlClient, SqlTransaction } from "../database/postgres.ts";

/** The maximum amount that one location can use in a day (UTC), in the quota's unit. */
export type LocationDailyQuota = ExceededLimit;

interface QuotaAmount {
  quota: LocationDailyQuota;
  amount: number;
}

interface QuotaUsage extends QuotaAmount {
  locationId: string;
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

/**
 * Adds amounts to a location's usage of several quotas for today (UTC) with one statement.
 *
 * @throws `ApiError` quota_exceeded for the first quota that would be exceeded. Unless the caller's transaction is rolled
 * back, the amounts of the others are added nevertheless.
 */
export async function consumeDailyQuotasOrThrow(
  sql: SqlClient | SqlTransaction,
  locationId: string,
  amounts: QuotaAmount[],
): Promise<void> {
  const maxima = Object.fromEntries(amounts.map(({ quota }) => [quota.name, quota.maximum]));
  const possible = amounts.filter(({ quota, amount }) => amount <= quota.maximum);
  const counted = await sql<{ quota: string }[]>`
    insert into daily_usage as usage (location_id, day, quota, used)
    select ${locationId}, (now() at time zone 'UTC')::date, quota, used
    from unnest(
      ${possible.map(({ quota }) => quota.name)}::text[], ${possible.map(({ amount }) => amount)}::bigint[]
    ) as added (quota, used)
    on conflict (location_id, quota, day) do update set used = usage.used + excluded.used
    where usage.used + excluded.used <= (${JSON.stringify(maxima)}::text::jsonb ->> excluded.quota)::bigint
    returning quota`;
  const names = new Set(counted.map(({ quota }) => quota));
  const exceeded = amounts.find(({ quota }) => !names.has(quota.name));
  if (exceeded) throw createQuotaExceededError(exceeded.quota);
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
