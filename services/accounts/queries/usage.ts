import { sandboxServiceConsumerName } from "@pragma/contracts/sandbox";
import {
  type FailedRequest,
  maxFailedRequestsPerKey,
  type UsageBatch,
  type UsageCount,
  type UsageGranularity,
  type UsageGrouping,
  usageGranularities,
} from "@pragma/contracts/usage";
import {
  type SqlClient,
  type SqlFragment,
  type SqlTransaction,
  toRecordsetParameter,
} from "@pragma/runtime/database/postgres";
import type { PageOfJsonItems, PageRange } from "@pragma/runtime/http/page-response";
import { z } from "zod";
import { locationName } from "./locations.ts";

const countTables = { minute: "request_counts_by_minute", day: "request_counts_by_day" } as const;

/** The `location_id` of usage of API keys without a location, and an id by which a list is not grouped. */
const noId = "00000000-0000-0000-0000-000000000000";

/** Adds counts to their minutes and days (UTC), in the sequence of their keys, so that batches cannot deadlock. */
export async function addRequestCounts(tx: SqlTransaction, counts: UsageBatch["counts"]): Promise<void> {
  if (counts.length === 0) return;
  for (const [length, table] of Object.entries(countTables))
    await tx`
      insert into ${tx(table)} as stored (location_id, period_start, key_id, route, status_class, request_count)
      select coalesce(k.location_id, ${noId}), date_trunc(${length}, to_timestamp(minute * 60), 'UTC'), k.id, route,
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
      location_id, id, key_id, failed_at, route, path, method, status, code, request_id, issues, request_bytes, count
    )
    select coalesce(k.location_id, ${noId}), gen_random_uuid(), k.id, failed_at, route, path, method, status, code,
      request_id, issues, request_bytes, count
    from jsonb_to_recordset(${toRecordsetParameter(tx, failures)}) as failed (
      key_id uuid, failed_at timestamptz, route text, path text, method text, status smallint, code text,
      request_id text, issues jsonb, request_bytes bigint, count bigint
    )
    join api_keys k on k.id = failed.key_id`;
  const keyIds = [...new Set(failures.map(({ keyId }) => keyId))];
  await tx`
    delete from failed_requests f
    using api_keys k, lateral (
      select failed_at, id from failed_requests
      where location_id = coalesce(k.location_id, ${noId}) and key_id = k.id
      order by failed_at desc, id desc offset ${maxFailedRequestsPerKey - 1} limit 1
    ) as oldest_kept
    where k.id = any(${keyIds}::uuid[]) and f.location_id = coalesce(k.location_id, ${noId})
      and f.key_id = k.id and (f.failed_at, f.id) < (oldest_kept.failed_at, oldest_kept.id)`;
}

/** Which usage a key may read and has asked for. `locationId` null means all locations. */
interface UsageFilter {
  locationId: string | null;
  keyId: string | undefined;
  consumerId: string | undefined;
  /** Whether the usage of all locations includes that of sandboxes. */
  includeSandboxes: boolean;
}

const matchesFilter = (sql: SqlClient, filter: UsageFilter): SqlFragment => {
  const { locationId, keyId, consumerId, includeSandboxes } = filter;
  const withoutSandboxes = sql`used.location_id not in (select id from locations where is_sandbox)`;
  const ofAll = includeSandboxes ? sql`true` : withoutSandboxes;
  return sql`
  (${locationId === null ? ofAll : sql`used.location_id = ${locationId}`}
  and ${keyId === undefined ? sql`true` : sql`key_id = ${keyId}`}
  and ${consumerId === undefined ? sql`true` : sql`consumer_id = ${consumerId}`})`;
};

/** Selects and groups numbers of requests. */
export interface UsageQuery extends UsageFilter {
  granularity: UsageGranularity;
  groupBy: readonly UsageGrouping[];
  since: Date;
  until: Date;
}

/**
 * The position of a group in the list. Groups by period are sorted by it, and otherwise by their number of requests, and
 * then by the other fields; largest first. Fields by which the list is not grouped are empty.
 */
export const usageCountCursorSchema = z.object({
  period: z.iso.datetime().regex(/^(?!0000).{20,35}$/),
  count: z.int().min(0),
  location: z.guid(),
  consumer: z.guid(),
  key: z.guid(),
  route: z
    .string()
    .max(64)
    .regex(/^[^\0]*$/),
  status: z.int().min(0).max(9),
});

type UsageCountCursor = z.output<typeof usageCountCursorSchema>;

const noPeriod = new Date(0);

type UsageCountRow = Omit<UsageCount, "periodStart" | "statusClass"> & {
  periodStart: Date;
  rank: number;
  sortedLocationId: string;
  sortedConsumerId: string;
  sortedKeyId: string;
  sortedRoute: string;
  statusClass: number;
};

export async function listUsageCounts(
  sql: SqlClient,
  { granularity, groupBy, since, until, ...filter }: UsageQuery,
  { after, offset, limit }: PageRange<UsageCountCursor>,
): Promise<PageOfJsonItems<UsageCountCursor>> {
  const isGroupedBy = (...names: UsageGrouping[]) => names.some((name) => groupBy.includes(name));
  const hasPeriods = isGroupedBy(...usageGranularities);
  const groups = sql`
    select
      ${hasPeriods ? sql`date_trunc(${granularity}, period_start, 'UTC')` : sql`${noPeriod}::timestamptz`} as period_start,
      ${isGroupedBy("location", "key") ? sql`used.location_id` : sql`${noId}::uuid`} as location_id,
      ${isGroupedBy("consumer", "key") ? sql`k.consumer_id` : sql`${noId}::uuid`} as consumer_id,
      ${isGroupedBy("key") ? sql`used.key_id` : sql`${noId}::uuid`} as key_id,
      ${isGroupedBy("route") ? sql`route` : sql`''`} as route,
      ${isGroupedBy("statusClass") ? sql`status_class` : sql`0::smallint`} as status_class,
      sum(request_count)::bigint as request_count,
      coalesce(sum(request_count) filter (where status_class >= 4), 0)::bigint as failed_count
    from ${sql(granularity === "day" ? countTables.day : countTables.minute)} as used
    join api_keys k on k.id = used.key_id
    where period_start >= ${since} and period_start < ${until} and ${matchesFilter(sql, filter)}
    group by 1, 2, 3, 4, 5, 6`;
  const ranked = sql`select *, ${hasPeriods ? sql`0` : sql`request_count`} as rank from (${groups}) as counted`;
  const isAfter = after
    ? sql`(period_start, rank, location_id, consumer_id, key_id, route, status_class) < (
        ${after.period}::timestamptz, ${after.count}::bigint, ${after.location}::uuid, ${after.consumer}::uuid,
        ${after.key}::uuid, ${after.route}::text, ${after.status}::smallint)`
    : sql`true`;
  const sequence = sql`
    period_start desc, rank desc, location_id desc, consumer_id desc, key_id desc, route desc, status_class desc`;
  const [rows, [counts]] = await Promise.all([
    // Reads one row more than the page needs, to find out whether another page follows.
    sql<UsageCountRow[]>`
      select period_start, rank, page.location_id as sorted_location_id, page.consumer_id as sorted_consumer_id,
        page.key_id as sorted_key_id, route as sorted_route, status_class,
        nullif(page.location_id, ${noId}) as location_id,
        (select ${locationName(sql)} from locations where id = page.location_id) as location_name,
        nullif(page.consumer_id, ${noId}) as consumer_id,
        (select coalesce(display_name, name) from consumers where id = page.consumer_id) as consumer_name,
        nullif(page.key_id, ${noId}) as key_id, (select prefix from api_keys where id = page.key_id) as key_prefix,
        nullif(route, '') as route, request_count, failed_count
      from (
        select * from (${ranked}) as ranked where ${isAfter} order by ${sequence} offset ${offset} limit ${limit + 1}
      ) as page
      order by ${sequence}`,
    sql<[UsageTotals & { total: number }]>`
      select count(*) as total, coalesce(sum(request_count), 0)::bigint as request_count,
        coalesce(sum(failed_count), 0)::bigint as failed_count
      from (${groups}) as counted`,
  ]);
  const { total, ...totals } = counts;
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    items: rows.slice(0, limit).map((row) => JSON.stringify(toUsageCount(row, hasPeriods))),
    total,
    otherFields: { totals },
    last: last
      ? {
          period: last.periodStart.toISOString(),
          count: last.rank,
          location: last.sortedLocationId,
          consumer: last.sortedConsumerId,
          key: last.sortedKeyId,
          route: last.sortedRoute,
          status: last.statusClass,
        }
      : null,
  };
}

type UsageTotals = Pick<UsageCount, "requestCount" | "failedCount">;

function toUsageCount(
  row: UsageCountRow,
  hasPeriods: boolean,
): Omit<UsageCount, "statusClass"> & { statusClass: string | null } {
  const { locationId, locationName, consumerId, consumerName, keyId, keyPrefix, route, requestCount, failedCount } =
    row;
  return {
    periodStart: hasPeriods ? row.periodStart.toISOString() : null,
    ...{ locationId, locationName, consumerId, consumerName, keyId, keyPrefix, route },
    statusClass: row.statusClass === 0 ? null : `${row.statusClass}xx`,
    ...{ requestCount, failedCount },
  };
}

export const buildFailedRequestListSql = (sql: SqlClient, filter: UsageFilter) => ({
  columns: sql`
    used.id, created_at, failed_at, key_id, prefix as key_prefix, consumer_id,
    coalesce(display_name, name) as consumer_name, nullif(used.location_id, ${noId}) as location_id,
    (select ${locationName(sql)} from locations where id = used.location_id) as location_name,
    route, path, method, status, code, request_id, issues, request_bytes, count`,
  table: sql`
    (
      select failed_requests.*, failed_at as created_at, k.prefix, k.consumer_id, c.name, c.display_name
      from failed_requests join api_keys k on k.id = key_id join consumers c on c.id = consumer_id
    ) as used`,
  // The failures of the service sandboxes, such as a look-up of a catalog that does not exist yet, are not the client's.
  where: sql`
    ${matchesFilter(sql, filter)}
    and ${filter.locationId === null ? sql`true` : sql`used.name <> ${sandboxServiceConsumerName}`}`,
  toItem: ({ createdAt: _, ...failure }: FailedRequest & { createdAt: Date }) => failure,
});
