import { numberFromEnv } from "@pragma/runtime/config";
import { consumeDailyQuota } from "@pragma/runtime/daily-quota";
import type { Sql } from "@pragma/runtime/postgres";
import { z } from "zod";
import type { NewTill } from "./queries/tills.ts";

/** What a location may send in a day: as much as ten years of five tills a day, 1 MB each, from a point of sale that begins. */
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
