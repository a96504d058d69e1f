import type { Database } from "@pragma/runtime/database/postgres";
import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import type { CompressingObjectStore } from "@pragma/runtime/object-store/object-store";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { LocationLookupClient } from "@pragma/runtime/service-calls/location-lookup";
import type { ReportingServiceConfig } from "./config.ts";

/** What all features of reporting use. `metrics/context.ts` and `exports/context.ts` add what only these features do. */
export interface ReportingContext {
  db: Database;
  log: Logger;
  config: ReportingServiceConfig;
  objects: CompressingObjectStore;
  locations: LocationLookupClient;
}

export const defineReportingRoute = createRouteDefiner<ReportingContext>();
