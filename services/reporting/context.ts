import type { Admission } from "@pragma/runtime/admission/admission";
import type { Database } from "@pragma/runtime/database/postgres";
import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import type { CompressingObjectStore } from "@pragma/runtime/object-store/object-store";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { PrometheusMetrics } from "@pragma/runtime/observability/metrics";
import type { LocationLookupClient } from "@pragma/runtime/service-calls/location-lookup";
import type { ReportingServiceConfig } from "./config.ts";
import type { ExportKindName } from "./exports/export-kind.ts";
import type { LocationCurrencies } from "./metrics/location-currencies.ts";
import type { TillCalculator } from "./till-calculator.ts";

/** What the features of reporting use. */
export interface ReportingContext {
  db: Database;
  log: Logger;
  config: ReportingServiceConfig;
  objects: CompressingObjectStore;
  locations: LocationLookupClient;
  calculator: TillCalculator;
  locationCurrencies: LocationCurrencies;
  metricsQueries: Admission;
  recordMetricsDuration: ReturnType<PrometheusMetrics["createDurationHistogram"]>;
  /** For each kind of exports: makes all instances claim queued exports now, without waiting for the next regular poll. */
  pollExports: Record<ExportKindName, () => void>;
}

export const defineReportingRoute = createRouteDefiner<ReportingContext>();
