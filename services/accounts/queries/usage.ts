import {
  type FailedRequest,
  maxFailedRequestsPerKey,
  type UsageBatch,
  type UsageCount,
  type UsageGranularity,
} from "@pragma/contracts/usage";
import {
  type SqlClient,
  type SqlFragment,
  type SqlTransaction,
  toRecordsetParameter,
} from "@pragma/runtime/database/postgres";
import type { PageOfJsonItems, PageRange } from "@pragma/runtime/http/page-response";
import { z } from "zod";

const countTables = { minute: "request_counts_by_minute", day: "request_counts_by_day" } as const;

/** The `location_id` of usage of API keys without a location. */
const noLocationId = "00000000-0000-0000-0000-000000000000";
const publicLocationId = (sql: SqlClient) => sql`nullif(location_id, ${noLocationId})`;

/** Adds counts to their minutes and days (UTC), in the sequence of their keys, so that batches cannot deadlock. */
export async function addRequestCounts(tx: SqlTransaction, counts: UsageBatch["counts"]): Promise<void> {
  if (counts.length === 0) return;
  for (const [length, table] of Object.entries(countTables))
    await tx`
      insert into ${tx(table)} as stored (location_id, period_start, key_id, route, status_class, request_count)
      select coalesce(k.location_id, ${noLocationId}), date_trunc(${length}, to_timestamp(minute * 60), 'UTC'), k.id, route,
        status_class, sum(request_count)
      from jsonb_to_recordset(${toRecordsetParameter(tx, counts)}) as counted (
        key_id uuid, minute bigint, route text, status_class smallint, request_count bigint
      )
      join api_keys k on k.id = counted.key_id
      group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
      on conflict (location_id, period_start, key_id, route, status_class)
      do update set request_count = stored.request_count + excluded.request_count`;
}

/** Adds the failures of a batch, and deletes all but the last `maxFailedRequestsPerKey` failures of the batch's keys. */
export async function addFailedRequests(tx: SqlTransaction, failures: UsageBatch["failures"]): Promise<void> {
  if (failures.length === 0) return;
  await tx`
    insert into failed_requests (
      location_id, id, key_id, failed_at, route, method, status, code, request_id, count
    )
    select coalesce(k.location_id, ${noLocationId}), gen_random_uuid(), k.id, failed_at, route, method, status, code,
      request_id, count
    from jsonb_to_recordset(${toRecordsetParameter(tx, failures)}) as failed (
      key_id uuid, failed_at timestamptz, route text, method text, status smallint, code text, request_id text,
      count bigint
    )
    join api_keys k on k.id = failed.key_id`;
  const keyIds = [...new Set(failures.map(({ keyId }) => keyId))];
  await tx`
    delete from failed_requests f
    using api_keys k, lateral (
      select failed_at, id from failed_requests
      where location_id = coalesce(k.location_id, ${noLocationId}) and key_id = k.id
      order by failed_at desc, id desc offset ${maxFailedRequestsPerKey - 1} limit 1
    ) as oldest_kept
    where k.id = any(${keyIds}::uuid[]) and f.location_id = coalesce(k.location_id, ${noLocationId})
      and f.key_id = k.id and (f.failed_at, f.id) < (oldest_kept.failed_at, oldest_kept.id)`;
}

/** Which usage a key may read and has asked for. `locationId` null means all locations. */
interface UsageFilter {
  locationId: string | null;
  keyId: string | undefined;
}

const matchesFilter = (sql: SqlClient, { locationId, keyId }: UsageFilter): SqlFragment => sql`
  (${locationId === null ? sql`true` : sql`location_id = ${locationId}`}
  and ${keyId === undefined ? sql`true` : sql`key_id = ${keyId}`})`;

/** The position of a count in the list, which is sorted by all these fields, newest first. */
export const usageCountCursorSchema = z.object({
  period: z.iso.datetime().regex(/^(?!0000).{20,35}$/),
  location: z.guid(),
  key: z.guid(),
  route: z
    .string()
    .max(64)
    .regex(/^[^\0]*$/),
  status: z.int().min(0).max(9),
});

type UsageCountCursor = z.output<typeof usageCountCursorSchema>;

export async function listUsageCounts(
  sql: SqlClient,
  { granularity, since, until, ...filter }: UsageFilter & { granularity: UsageGranularity; since: Date; until: Date },
  { after, offset, limit }: PageRange<UsageCountCursor>,
): Promise<PageOfJsonItems<UsageCountCursor>> {
  const counted = sql`
    select date_trunc(${granularity}, period_start, 'UTC') as period_start, location_id, key_id, route, status_class,
      sum(request_count)::bigint as request_count
    from ${sql(granularity === "day" ? countTables.day : countTables.minute)}
    where period_start >= ${since} and period_start < ${until} and ${matchesFilter(sql, filter)}
    group by 1, 2, 3, 4, 5`;
  const isAfter = after
    ? sql`(period_start, location_id, key_id, route, status_class) < (
        ${after.period}::timestamptz, ${after.location}::uuid, ${after.key}::uuid, ${after.route}::text,
        ${after.status}::smallint)`
    : sql`true`;
  const [rows, [counts]] = await Promise.all([
    // Reads one row more than the page needs, to find out whether another page follows.
    sql<(Omit<UsageCount, "periodStart"> & { periodStart: Date })[]>`
      select period_start, key_id, k.prefix as key_prefix, ${publicLocationId(sql)} as location_id, route,
        status_class || 'xx' as status_class, request_count
      from (
        select * from (${counted}) as counted where ${isAfter}
        order by period_start desc, location_id desc, key_id desc, route desc, status_class desc
        offset ${offset} limit ${limit + 1}
      ) as page
      join lateral (select prefix from api_keys where id = key_id) as k on true
      order by page.period_start desc, page.location_id desc, key_id desc, route desc, page.status_class desc`,
    sql<[{ total: number }]>`select count(*) as total from (${counted}) as counted`,
  ]);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    items: rows.slice(0, limit).map((row) => JSON.stringify(row)),
    total: counts.total,
    last: last
      ? {
          period: last.periodStart.toISOString(),
          location: last.locationId ?? noLocationId,
          key: last.keyId,
          route: last.route,
          status: Number.parseInt(last.statusClass, 10),
        }
      : null,
  };
}

export const buildFailedRequestListSql = (sql: SqlClient, filter: UsageFilter) => ({
  columns: sql`
    id, created_at, failed_at, key_id, (select prefix from api_keys where id = key_id) as key_prefix,
    ${publicLocationId(sql)} as location_id, route, method, status, code, request_id, count`,
  table: sql`(select *, failed_at as created_at from failed_requests) as failed_request`,
  where: matchesFilter(sql, filter),
  toItem: ({ createdAt: _, ...failure }: FailedRequest & { createdAt: Date }) => failure,
});
