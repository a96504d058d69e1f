import type { Database } from "@pragma/runtime/database/postgres";
import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import type { SendBusRequest } from "@pragma/runtime/messaging/bus-requests";
import type { CompressingObjectStore } from "@pragma/runtime/object-store/object-store";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { LocationLookupClient } from "@pragma/runtime/service-calls/location-lookup";
import type { createTillQuotas, TillIngestServiceConfig } from "./config.ts";
import type { createThreadedTillBodyParser } from "./validation/parse-till-body.ts";

export interface TillIngestServiceContext {
  db: Database;
  log: Logger;
  config: TillIngestServiceConfig;
  objects: CompressingObjectStore;
  locations: LocationLookupClient;
  sendBusRequest: SendBusRequest;
  reader: ReturnType<typeof createThreadedTillBodyParser>;
  /** Starts new reprocessings immediately, without waiting for the next poll. */
  pollReprocessings(): void;
  /** Seconds for which a till can wait for its report. After this time, `till.pushed` is published again. */
  requeueAfterSeconds: number;
  quotasOf: ReturnType<typeof createTillQuotas>;
}

export const defineTillIngestRoute = createRouteDefiner<TillIngestServiceContext>();

export const tillWriteRouteDefaults = { tag: "Tills", audience: "public", scope: "tills:write" } as const;
