import { buildMetricsMeta, MetricsMeta } from "@pragma/contracts/metrics";
import { createJsonResponseWithContentEtag } from "@pragma/runtime/http/route-response";
import { defineReportingRoute } from "../context.ts";

const metricsRouteDefaults = { tag: "Metrics", audience: "public", scope: "reports:read" } as const;

const metaBody = JSON.stringify(buildMetricsMeta());

export const getMetricsMetaRoute = defineReportingRoute({
  method: "get",
  path: "/v1/metrics/meta",
  operationId: "getMetricsMeta",
  ...metricsRouteDefaults,
  summary: "List measures and dimensions",
  description:
    "Returns the measures and dimensions of metrics, which of them go together, and the limits of queries. The response only changes with the version of the API.",
  responses: {
    200: { description: "The measures and dimensions", schema: MetricsMeta },
    304: { description: "The client's cached response is current" },
  },
  errors: [],
  async handle({ header }) {
    return createJsonResponseWithContentEtag(metaBody, { ifNoneMatch: header("if-none-match") });
  },
});
