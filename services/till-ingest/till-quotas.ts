import { numberFromEnv } from "@pragma/runtime/config";
import { consumeDailyQuota } from "@pragma/runtime/daily-quota";
import type { Sql } from "@pragma/runtime/postgres";
import { z } from "zod";
import type { NewTill } from "./queries/tills.ts";

/**
 * What a location may send in a day: a hundred times a busy restaurant's five tills of 2 MB would be 500 and 1 GB; more
 * is for a point of sale that sends years of tills at once.
 */
export const tillQuotaConfig = {
  TILLS_PER_DAY: numberFromEnv(z.number().int().min(1)).default(20_000),
  TILL_BYTES_PER_DAY: numberFromEnv(z.number().int().min(1)).default(20_000_000_000),
};

export type TillQuotas = z.output<z.ZodObject<typeof tillQuotaConfig>>;

/**
 * Counts a new body of a till against its location's quotas of today, before the body is stored.
 *
 * @throws `ApiError` quota_exceeded.
 */
export async function consumeTillQuotas(
  sql: Sql,
  { TILLS_PER_DAY, TILL_BYTES_PER_DAY }: TillQuotas,
  { locationId, size }: NewTill,
): Promise<void> {
  const tills = { name: "tills", maximum: TILLS_PER_DAY, unit: "tills" };
  const bytes = { name: "till_bytes", maximum: TILL_BYTES_PER_DAY, unit: "bytes" };
  await consumeDailyQuota(sql, { locationId, quota: tills, amount: 1 });
  await consumeDailyQuota(sql, { locationId, quota: bytes, amount: size });
}
