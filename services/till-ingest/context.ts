import { numberFromEnv } from "@pragma/runtime/config/runtime-config";
import type { Database } from "@pragma/runtime/database/postgres";
import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import type { DailyQuota } from "@pragma/runtime/limits/daily-quota";
import type { ObjectStore } from "@pragma/runtime/object-store/object-store";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { LocationLookup } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { legacyBackofficeVariables } from "./legacy/backoffice.ts";
import type { createTillBodyReader } from "./validation/till-body-reader.ts";

export const tillIngestConfig = z.object({
  /** Where the bodies of tills are kept: `file:/folder` or `s3://bucket/prefix`. */
  OBJECT_STORE: z.string().regex(/^(?:file:\/|s3:\/\/)/, "must start with file:/ or s3://"),
  /** Memory of each of the threads that parse and check large tills: the largest till needs 256. A `--max-old-space-size` of the process takes its place. */
  READING_HEAP_MB: numberFromEnv(64, 16_384).default(384),
  /** How long a till may be without its result before it is announced again. */
  SWEEP_AFTER_SECONDS: numberFromEnv(1).default(300),
  /** How long the bodies of tills are kept that others took the place of; for ever when it is not set. */
  REPLACED_BODIES_KEPT_DAYS: numberFromEnv(1, 36_500).optional(),
  /** What a location may send in a day: as much as ten years of five tills a day, 1 MB each, from a point of sale that begins. */
  TILLS_PER_DAY: numberFromEnv(1).default(20_000),
  TILL_BYTES_PER_DAY: numberFromEnv(1).default(20_000_000_000),
  /** How many times a day the tills of a location may be replaced or reprocessed, one by one. */
  TILL_REVISIONS_PER_DAY: numberFromEnv(1).default(5_000),
  ...legacyBackofficeVariables,
});

export type TillIngestConfig = z.output<typeof tillIngestConfig>;

/** What the till-ingest service stands on. */
export interface TillIngestContext {
  db: Database;
  log: Logger;
  config: TillIngestConfig;
  objects: ObjectStore;
  locations: LocationLookup;
  reader: ReturnType<typeof createTillBodyReader>;
  /** Has the tills of new reprocessings announced. */
  wakeReprocessing(): void;
  /** How long a till may be without its result before it is announced again, in seconds. */
  sweepAfter: number;
  /** How many replacements and reprocessings of tills a location may ask for in a day. */
  revisionQuota: DailyQuota;
}

export const defineRoute = createRouteDefiner<TillIngestContext>();

/** What the routes that change tills have in common. */
export const tillRoute = { tag: "Tills", audience: "public", scope: "tills:write" } as const;
