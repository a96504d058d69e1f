import { RequestDateTime } from "@pragma/contracts/date-time";
import { markAsListParameter, nameListParameter } from "@pragma/contracts/list-parameter";
import { includeSandboxesParameter } from "@pragma/contracts/location";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import {
  FailedRequest,
  maxFailedRequestsPerKey,
  type UsageGranularity,
  UsagePage,
  usageGranularities,
  usageGroupings,
} from "@pragma/contracts/usage";
import { createPageResponse, queryNewestRowsPageResponse } from "@pragma/runtime/http/page-response";
import { createInvalidRequestError } from "@pragma/runtime/http/request-issues";
import { locationIdQueryParameter } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineAccountsRoute } from "../context.ts";
import { resolveListedLocationId } from "../permissions.ts";
import { buildFailedRequestListSql, listUsageCounts, usageCountCursorSchema } from "../queries/usage.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** The length of each period, the range without `since`, and the maximum range of a request, in milliseconds. */
const periods: Record<UsageGranularity, { lengthMs: number; defaultRangeMs: number; maxRangeMs: number }> = {
  minute: { lengthMs: minuteMs, defaultRangeMs: 60 * minuteMs, maxRangeMs: dayMs },
  hour: { lengthMs: 60 * minuteMs, defaultRangeMs: dayMs, maxRangeMs: 31 * dayMs },
  day: { lengthMs: dayMs, defaultRangeMs: 30 * dayMs, maxRangeMs: 366 * dayMs },
};

const usageFilterQuery = {
  locationId: locationIdQueryParameter(
    "ID of the location whose API keys are included. Defaults to all API keys if the calling key has the scope `locations:any`, and otherwise to those of the calling key's location.",
  ),
  keyId: z.guid().optional().meta({ description: "Returns only the usage of the API key with this ID." }),
  consumerId: z.guid().optional().meta({ description: "Returns only the usage of the API keys of this consumer." }),
  includeSandboxes: includeSandboxesParameter,
};

const groupByParameter = markAsListParameter(
  nameListParameter("group", usageGroupings, usageGroupings.length)
    .refine((groups) => groups.length > 0, {
      error: `Must have at least one group. Use some of: ${usageGroupings.join(", ")}`,
      params: { code: "too_small" },
    })
    .optional()
    .meta({
      description: `What the numbers are grouped by, separated by commas: ${usageGroupings.map((name) => `\`${name}\``).join(", ")}. By default, they are grouped by period, location, consumer, key, route and class of statuses. With \`minute\`, \`hour\` or \`day\`, each period has its own numbers, newest first. Otherwise, each group has one number for the whole range, largest first.`,
      example: "consumer,day",
      type: "string",
    }),
);

const listUsageQuery = z.object({
  ...paginationQueryShape,
  ...usageFilterQuery,
  granularity: z
    .enum(usageGranularities, { error: `Must be one of: ${usageGranularities.join(", ")}` })
    .optional()
    .meta({
      description:
        "Length of the periods in which requests are counted. Defaults to the period in `groupBy`; without one, to `day` if `groupBy` is set, and otherwise to `hour`.",
    }),
  groupBy: groupByParameter,
  since: RequestDateTime.optional().meta({
    description:
      "Returns only periods from this date-time on, including the period that contains it. Defaults to one hour, one day or 30 days before `until`, for minutes, hours and days.",
    example: "2026-05-29T00:00:00Z",
  }),
  until: RequestDateTime.optional().meta({
    description:
      "Returns only periods that begin before this date-time. Defaults to now. The time between `since` and `until` is limited to 1 day, 31 days or 366 days, for minutes, hours and days.",
    example: "2026-05-30T00:00:00Z",
  }),
});

const usageRouteDefaults = { tag: "Usage", audience: "public", scope: "usage:read" } as const;

export const listUsageRoute = defineAccountsRoute({
  method: "get",
  path: "/v1/usage/",
  operationId: "listUsage",
  ...usageRouteDefaults,
  summary: "List numbers of requests",
  description:
    "Returns how many requests the API keys of your location have sent: by default by period, API key, route and class of response statuses, newest period first. With `groupBy`, you choose what the numbers are grouped by. `totals` contains the numbers of all pages together. Requests without a valid API key are not counted. Counts arrive within a minute. Counts by minute and hour are stored for 7 days, and counts by day for a year. With the scope `locations:any`, the list contains the API keys of all locations, without those of sandboxes unless you send `includeSandboxes=true`.",
  request: { query: listUsageQuery },
  responses: { 200: { description: "A page of numbers of requests", schema: UsagePage } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services, url, origin }) {
    const { keyId, consumerId } = query;
    const includeSandboxes = query.includeSandboxes === "true";
    const grouping = resolveUsageGrouping(query);
    const range = resolveUsageRange({ ...query, ...grouping });
    const locationId = resolveListedLocationId(principal, query.locationId);
    return createPageResponse({ query, locationId, url, origin, principal }, usageCountCursorSchema, (page) =>
      listUsageCounts(
        services.db.sql,
        { locationId, keyId, consumerId, includeSandboxes, ...grouping, ...range },
        page,
      ),
    );
  },
});

export const listFailedRequestsRoute = defineAccountsRoute({
  method: "get",
  path: "/v1/usage/failures/",
  operationId: "listFailedRequests",
  ...usageRouteDefaults,
  summary: "List failed requests",
  description: `Returns the last requests of the API keys of your location that were answered with a status of 400 or more, newest first. At most ${maxFailedRequestsPerKey} requests of each API key are stored, for 7 days. If many requests fail in the same way within seconds, only the latest are stored, and \`count\` contains the number of the others. Requests without a valid API key are not stored. With the scope \`locations:any\`, the list contains the API keys of all locations, without those of sandboxes unless you send \`includeSandboxes=true\`.`,
  request: { query: z.object({ ...paginationQueryShape, ...usageFilterQuery }) },
  responses: {
    200: { description: "A page of failed requests, newest first", schema: paginatedSchema(FailedRequest) },
  },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services, url, origin }) {
    const { sql } = services.db;
    const locationId = resolveListedLocationId(principal, query.locationId);
    const { keyId, consumerId } = query;
    const includeSandboxes = query.includeSandboxes === "true";
    const list = buildFailedRequestListSql(sql, { locationId, keyId, consumerId, includeSandboxes });
    return queryNewestRowsPageResponse({ query, locationId, principal, url, origin }, sql, list);
  },
});

/** Returns what to group by, and the length of the periods. @throws `ApiError` invalid_request. */
function resolveUsageGrouping({
  granularity,
  groupBy,
}: Pick<z.output<typeof listUsageQuery>, "granularity" | "groupBy">) {
  if (!groupBy) {
    const length = granularity ?? "hour";
    return { granularity: length, groupBy: [length, "location", "consumer", "key", "route", "statusClass"] as const };
  }
  const periods = usageGranularities.filter((length) => groupBy.includes(length));
  const [period] = periods;
  const reject = (path: string, message: string) =>
    createInvalidRequestError([{ in: "query", path, code: "invalid_value", message }]);
  if (periods.length > 1) throw reject("groupBy", `Must contain at most one of: ${usageGranularities.join(", ")}`);
  if (period && granularity && period !== granularity)
    throw reject("granularity", `Must be ${period}, as in groupBy. Omit it`);
  return { granularity: period ?? granularity ?? "day", groupBy };
}

/** Returns the start of the first and the end of the last period. @throws `ApiError` invalid_request. */
function resolveUsageRange(
  query: Pick<z.output<typeof listUsageQuery>, "since" | "until"> & { granularity: UsageGranularity },
): { since: Date; until: Date } {
  const { lengthMs, defaultRangeMs, maxRangeMs } = periods[query.granularity];
  const until = query.until === undefined ? Date.now() : Date.parse(query.until);
  const since = query.since === undefined ? until - defaultRangeMs : Date.parse(query.since);
  const reject = (code: "too_small" | "too_big", message: string) =>
    createInvalidRequestError([{ in: "query", path: "since", code, message }]);
  if (since > until) throw reject("too_big", "Must not be after until. Exchange the two values, or omit one of them");
  if (until - since > maxRangeMs) {
    const days = maxRangeMs / dayMs;
    throw reject("too_small", `Must be at most ${days} ${days === 1 ? "day" : "days"} before until`);
  }
  // No request was counted before 1970 or after today, and PostgreSQL cannot read all years that a Date can have.
  const limitToCounted = (time: number) => Math.min(Math.max(time, 0), Date.now() + dayMs);
  return {
    since: new Date(Math.floor(limitToCounted(since) / lengthMs) * lengthMs),
    until: new Date(Math.ceil(limitToCounted(until) / lengthMs) * lengthMs),
  };
}
