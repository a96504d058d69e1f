import { routesOf } from "@pragma/runtime/define-route";
import type { Locations } from "@pragma/runtime/locations";
import type { Database } from "@pragma/runtime/postgres";
import type { JobsConfig } from "./config.ts";
import type { JobQueue } from "./queue.ts";

/** What the jobs service works with. */
export interface Jobs {
  db: Database;
  config: JobsConfig;
  queue: JobQueue;
  locations: Locations;
}

export const defineRoute = routesOf<Jobs>();
