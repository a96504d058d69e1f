import { Day } from "@pragma/contracts/day";
import { ApiError } from "@pragma/contracts/errors";
import {
  checkSinceIsNotAfterUntil,
  dayQueryParameter,
  paginatedSchema,
  paginationQueryShape,
} from "@pragma/contracts/pagination";
import { createPageResponse, limitPageBytes } from "@pragma/runtime/http/page-response";
import { pageTokenDateSchema } from "@pragma/runtime/http/page-token";
import { createConditionalJsonResponse } from "@pragma/runtime/http/route-response";
import { locationIdQueryParameter, resolveAuthorizedLocationId } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineReportingRoute } from "../../context.ts";
import { dayParameter } from "../../documents/routes/documents.ts";
import { findDay, listDays } from "../queries/days.ts";

const dayRouteDefaults = { tag: "Days", audience: "public", scope: "reports:read" } as const;

export const listDaysRoute = defineReportingRoute({
  method: "get",
  path: "/v1/days/",
  operationId: "listDays",
  ...dayRouteDefaults,
  summary: "List business days",
  description:
    "Returns the location's business days that have reports, open shifts or orders without a till, latest day first. Each day has its tills, its totals, and checks that compare its figures. A day changes when a till of the day is pushed, replaced, reprocessed or removed, and when a shift of the day has its first live order or has none anymore.",
  request: {
    query: z
      .object({
        ...paginationQueryShape,
        since: dayParameter("First business day to include, as YYYY-MM-DD in the location's time zone"),
        until: dayParameter("Last business day to include, as YYYY-MM-DD in the location's time zone"),
        locationId: locationIdQueryParameter(),
      })
      .check(checkSinceIsNotAfterUntil),
  },
  responses: { 200: { description: "A page of business days, latest day first", schema: paginatedSchema(Day) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services, url, origin }) {
    const locationId = resolveAuthorizedLocationId(principal, query.locationId);
    const { since = null, until = null } = query;
    const positionSchema = z.object({ day: pageTokenDateSchema });
    return createPageResponse(
      { query, locationId, principal, url, origin },
      positionSchema,
      async ({ after, offset, limit }) => {
        const range = { since, until, before: after?.day ?? null, offset, limit: limit + 1 };
        const { days, total } = await services.db.read(locationId, ({ sql }) => listDays(sql, locationId, range));
        const bodies = days.slice(0, limit).map(({ body }) => body);
        const items = limitPageBytes(bodies, services.config.PAGE_MAX_BYTES);
        const last = days[items.length - 1];
        return { items, total, last: last && items.length < days.length ? { day: last.day } : null };
      },
    );
  },
});

export const getDayRoute = defineReportingRoute({
  method: "get",
  path: "/v1/days/{date}",
  operationId: "getDay",
  ...dayRouteDefaults,
  summary: "Get a business day",
  description:
    "Returns one business day of the location: its tills, its totals, and checks that compare its figures. The checks state what they find, and correct nothing.",
  request: {
    params: z.object({
      date: dayQueryParameter.meta({
        ...dayQueryParameter.meta(),
        description: "The business day, as YYYY-MM-DD in the location's time zone",
      }),
    }),
    query: z.object({ locationId: locationIdQueryParameter() }),
  },
  responses: {
    200: { description: "The business day", schema: Day },
    304: { description: "The client's cached response is current" },
  },
  errors: ["day_not_found", "location_forbidden"],
  async handle({ params: { date: day }, query, principal, services, header }) {
    const locationId = resolveAuthorizedLocationId(principal, query.locationId);
    const found = await services.db.read(locationId, ({ sql }) => findDay(sql, { locationId, day }));
    if (!found)
      throw new ApiError("day_not_found", {
        detail: `This location has neither reports, nor open shifts, nor orders without a till of ${day}.`,
      });
    return createConditionalJsonResponse(found.body, { etag: found.etag, ifNoneMatch: header("if-none-match") });
  },
});
