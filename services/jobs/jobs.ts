import { routesOf } from "@pragma/runtime/define-route";
import type { Locations } from "@pragma/runtime/locations";
import type { Logger } from "@pragma/runtime/logger";
import type { Database } from "@pragma/runtime/postgres";
import type { JobLimits } from "./check-job.ts";
import type { LocationQueues } from "./queues/location-queues.ts";
import type { QueueFeeder } from "./queues/queue-feeder.ts";

/** What the jobs service stands on. */
export interface Jobs {
  db: Database;
  log: Logger;
  queues: LocationQueues;
  feeder: QueueFeeder;
  limits: JobLimits;
  locations: Locations;
  /** How long jobs are kept that have finished, and how many of one location. */
  kept: { days: number; perLocation: number };
}

export const defineRoute = routesOf<Jobs>();
