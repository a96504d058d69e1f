import type { Admission } from "@pragma/runtime/admission/admission";
import type { WorkerThreadPool } from "@pragma/runtime/concurrency/worker-pool";
import type { Database } from "@pragma/runtime/database/postgres";
import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import type { CompressingObjectStore } from "@pragma/runtime/object-store/object-store";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { PrometheusMetrics } from "@pragma/runtime/observability/metrics";
import type { LocationLookupClient } from "@pragma/runtime/service-calls/location-lookup";
import type { ReportingServiceConfig } from "./config.ts";
import type { StoredTillDocuments } from "./metrics/compute-stored-till-metrics.ts";
import type { LocationCurrencies } from "./metrics/location-currencies.ts";
import type { TillMetrics } from "./metrics/till-metrics.ts";
import type { ThreadedTillReportCalculator } from "./threaded-till-report-calculator.ts";

/** The dependencies of the reporting service's routes, subscriptions and periodic tasks. */
export interface ReportingServiceContext {
  db: Database;
  log: Logger;
  config: ReportingServiceConfig;
  objects: CompressingObjectStore;
  calculator: ThreadedTillReportCalculator;
  locations: LocationLookupClient;
  locationCurrencies: LocationCurrencies;
  metricsQueries: Admission;
  recordMetricsDuration: ReturnType<PrometheusMetrics["createDurationHistogram"]>;
  /** Computes the metrics of stored tills. */
  metricsWorker: Pick<WorkerThreadPool<StoredTillDocuments, TillMetrics | null>, "run">;
  /** Claims pending accounting exports now, without waiting for the next regular poll. */
  pollAccountingExports(): void;
  /** Does the same for bulk exports. */
  pollBulkExports(): void;
}

export const defineReportingRoute = createRouteDefiner<ReportingServiceContext>();

export const accountingRouteDefaults = { tag: "Accounting", audience: "public", scope: "accounting:write" } as const;
