import type { Database } from "@pragma/runtime/database/postgres";
import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import type { LocationLookupClient } from "@pragma/runtime/service-calls/location-lookup";
import type { JobsServiceConfig } from "./config.ts";
import type { JobQueue } from "./job-queue.ts";

/** The resources that the routes and periodic tasks of the jobs service share. */
export interface JobsServiceContext {
  db: Database;
  config: JobsServiceConfig;
  jobQueue: JobQueue;
  locations: LocationLookupClient;
}

export const defineJobsRoute = createRouteDefiner<JobsServiceContext>();
