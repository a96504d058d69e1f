import type { Database } from "@pragma/runtime/database/postgres";
import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import type { LocationDailyQuota } from "@pragma/runtime/limits/daily-quota";
import type { ObjectStore } from "@pragma/runtime/object-store/object-store";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { LocationLookup } from "@pragma/runtime/service-calls/location-lookup";
import type { TillIngestConfig } from "./config.ts";
import type { createTillBodyReader } from "./validation/till-body-reader.ts";

/** The resources that the routes, subscriptions and periodic tasks of the till-ingest service use. */
export interface TillIngestContext {
  db: Database;
  log: Logger;
  config: TillIngestConfig;
  objects: ObjectStore;
  locations: LocationLookup;
  reader: ReturnType<typeof createTillBodyReader>;
  /** Starts working on new reprocessings without waiting for the next poll. */
  pollReprocessings(): void;
  /** How long a till may wait for its report before `till.pushed` is published again, in seconds. */
  requeueAfterSeconds: number;
  /** Maximum number of replacements and reprocessings of single tills that a location may request per day. */
  revisionQuota: LocationDailyQuota;
}

export const defineRoute = createRouteDefiner<TillIngestContext>();

/** The fields that all routes that change tills share. */
export const tillWriteRouteDefaults = { tag: "Tills", audience: "public", scope: "tills:write" } as const;
