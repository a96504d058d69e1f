import type { Admission } from "@pragma/runtime/admission/admission";
import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import type { PrometheusMetrics } from "@pragma/runtime/observability/metrics";
import type { ReportingContext } from "../context.ts";
import type { LocationCurrencies } from "./location-currencies.ts";

export interface MetricsContext extends ReportingContext {
  locationCurrencies: LocationCurrencies;
  metricsQueries: Admission;
  recordMetricsDuration: ReturnType<PrometheusMetrics["createDurationHistogram"]>;
}

export const defineMetricsRoute = createRouteDefiner<MetricsContext>();
