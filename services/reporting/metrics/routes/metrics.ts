import { ApiError } from "@pragma/contracts/errors";
import { Metrics } from "@pragma/contracts/metrics";
import { buildMetricsMeta, MetricsMeta } from "@pragma/contracts/metrics-meta";
import { MetricsQuery } from "@pragma/contracts/metrics-query";
import { selectMediaType } from "@pragma/runtime/http/content-negotiation";
import {
  computeEntityTag,
  createConditionalJsonResponse,
  createTaggedJsonResponse,
} from "@pragma/runtime/http/route-response";
import { resolveAuthorizedLocationId } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineReportingRoute } from "../../context.ts";
import { runInTurn } from "../../run-in-turn.ts";
import { computeMetrics } from "../compute-metrics.ts";
import { getMetricFamily } from "../metric-sources.ts";
import { formatMetricsCsv } from "../metrics-csv.ts";

const metricsRouteDefaults = { tag: "Metrics", audience: "public", scope: "reports:read" } as const;

const metaBody = JSON.stringify(buildMetricsMeta());

export const getMetricsMetaRoute = defineReportingRoute({
  method: "get",
  path: "/v1/metrics/meta",
  operationId: "getMetricsMeta",
  ...metricsRouteDefaults,
  summary: "List measures and dimensions",
  description:
    "Returns the measures and dimensions of metrics, which of them can be combined, and the limits of queries. The response only changes with the version of the API.",
  responses: {
    200: { description: "The measures and dimensions", schema: MetricsMeta },
    304: { description: "The client's cached response is current" },
  },
  errors: [],
  async handle({ header }) {
    return createTaggedJsonResponse(metaBody, { ifNoneMatch: header("if-none-match") });
  },
});

const csvType = "text/csv";
/** Also contains what the gateway sends itself, because it forwards this header instead of its own. */
const vary = "origin, accept";
const csvContentType = `${csvType}; charset=utf-8`;

export const getMetricsRoute = defineReportingRoute({
  method: "get",
  path: "/v1/metrics/",
  operationId: "getMetrics",
  ...metricsRouteDefaults,
  summary: "Query metrics",
  description:
    "Returns figures of reports, such as sales, orders or payments, by dimensions such as day, room or product, optionally with those of an earlier period. A figure belongs to the business day of its report. Each total equals the sum of the reports, to the cent. `missingReportCount` is the number of reports that are not included, because a sum of their till is too large. Sums of several currencies are never added. Rows whose values are all 0 are omitted. With `Accept: text/csv`, the response contains the rows as CSV, without totals.",
  request: { query: MetricsQuery },
  responses: {
    200: {
      description: "The rows and totals",
      schema: Metrics,
      alternatives: {
        [csvType]: {
          schema: z.string(),
          example: "currency,day,sales\r\nEUR,2026-05-29,3430\r\n",
        },
      },
    },
    304: { description: "The client's cached response is current" },
  },
  errors: ["location_forbidden", "location_not_found", "amounts_too_large", "too_many_rows", "query_too_slow"],
  async handle({ query, principal, services, context, header, signal, runOutsideAdmission }) {
    const requestedIds = query.locationIds ?? [query.locationId];
    const locationIds = requestedIds.map((id) => resolveAuthorizedLocationId(principal, id));
    const started = performance.now();
    let outcome = "done";
    const compute = () => computeMetrics(services, query, locationIds, { context, signal });
    const metrics = await runInTurn({ services, principal, signal, runOutsideAdmission }, compute)
      .catch((error: unknown) => {
        const code = error instanceof ApiError ? error.code : "internal_error";
        outcome = signal.aborted ? "disconnected" : code;
        throw error;
      })
      .finally(() => {
        const labels = { family: getMetricFamily(query), outcome };
        services.recordMetricsDuration((performance.now() - started) / 1_000, labels);
      });
    const isCsv = selectMediaType(header("accept"), ["application/json", csvType]) === csvType;
    const body = isCsv ? formatMetricsCsv(metrics) : JSON.stringify(metrics);
    const condition = { etag: computeEntityTag(body), ifNoneMatch: header("if-none-match") };
    const response = createConditionalJsonResponse(body, condition, isCsv ? { "content-type": csvContentType } : {});
    return { ...response, headers: { ...response.headers, vary } };
  },
});
