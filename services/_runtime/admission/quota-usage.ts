import type { QuotaUsage } from "@pragma/contracts/quota";
import { z } from "zod";
import type { SqlClient } from "../database/postgres.ts";
import type { PageOfJsonItems, PageRange } from "../http/page-response.ts";

/** The position in the list, which is sorted by the used share of the maximum, in millionths, and then by the ids. */
export const quotaUsageCursorSchema = z.object({
  millionths: z.int().min(0),
  location: z.guid(),
  quota: z
    .string()
    .max(64)
    .regex(/^[^\0]*$/),
});

type QuotaUsageCursor = z.output<typeof quotaUsageCursorSchema>;

/** Returns a page of the quotas that were used today (UTC), of one location or of all, the largest used share first. */
export async function listQuotaUsage(
  sql: SqlClient,
  locationId: string | null,
  { after, offset, limit }: PageRange<QuotaUsageCursor>,
): Promise<PageOfJsonItems<QuotaUsageCursor>> {
  const usedToday = sql`
    select location_id, quota, used, maximum, floor(used::numeric * 1000000 / maximum)::bigint as millionths
    from daily_usage
    where day = (now() at time zone 'UTC')::date and used > 0 and maximum > 0
      and ${locationId === null ? sql`true` : sql`location_id = ${locationId}`}`;
  const isAfter = after
    ? sql`(millionths, location_id, quota) < (${after.millionths}::bigint, ${after.location}::uuid, ${after.quota}::text)`
    : sql`true`;
  const [rows, [counted]] = await Promise.all([
    // Reads one row more than the page needs, to find out whether another page follows.
    sql<(QuotaUsage & { millionths: number })[]>`
      select location_id, quota, used, maximum, millionths from (${usedToday}) as used_today where ${isAfter}
      order by millionths desc, location_id desc, quota desc offset ${offset} limit ${limit + 1}`,
    sql<[{ total: number }]>`select count(*) as total from (${usedToday}) as used_today`,
  ]);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    items: rows.slice(0, limit).map(({ millionths: _, ...usage }) => JSON.stringify(usage)),
    total: counted.total,
    last: last ? { millionths: last.millionths, location: last.locationId, quota: last.quota } : null,
  };
}
