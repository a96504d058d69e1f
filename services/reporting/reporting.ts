import { routesOf } from "@pragma/runtime/define-route";
import type { Logger } from "@pragma/runtime/logger";
import type { ObjectStore } from "@pragma/runtime/object-store/object-store";
import type { Database } from "@pragma/runtime/postgres";
import type { WorkerPool } from "@pragma/runtime/worker-pool";
import type { CalculatedTill, CalculateTill } from "./calculate-till.ts";

/** What the reporting service stands on. */
export interface Reporting {
  db: Database;
  log: Logger;
  objects: ObjectStore;
  calculator: WorkerPool<CalculateTill, CalculatedTill>;
}

export const defineRoute = routesOf<Reporting>();
