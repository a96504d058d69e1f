import { routesOf } from "@pragma/runtime/define-route";
import type { Locations } from "@pragma/runtime/locations";
import type { Logger } from "@pragma/runtime/logger";
import type { Database } from "@pragma/runtime/postgres";
import type { JobLimits } from "./check-job.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { JobQueue } from "./queue.ts";

/** What the jobs service works with. */
export interface Jobs {
  db: Database;
  log: Logger;
  queue: JobQueue;
  dispatcher: Dispatcher;
  limits: JobLimits;
  locations: Locations;
  /** How long jobs are kept that have finished, and how many of one location. */
  kept: { days: number; perLocation: number };
}

export const defineRoute = routesOf<Jobs>();
