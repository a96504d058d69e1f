import { numberFromEnv } from "@pragma/runtime/config/runtime-config";
import type { Database } from "@pragma/runtime/database/postgres";
import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import { pageSizeConfig } from "@pragma/runtime/http/page-response";
import type { ObjectStore } from "@pragma/runtime/object-store/object-store";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { LocationLookup } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import type { TillCalculator } from "./till-calculator.ts";

export const reportingConfig = z.object({
  ...pageSizeConfig,
  /** Where till-ingest keeps the bodies of tills: the same address as there. */
  OBJECT_STORE: z.string(),
  /** How long what says who ordered is kept, from when its till was pushed; as long as the rest when it is not set. */
  PERSONAL_DATA_KEPT_DAYS: numberFromEnv(1, 36_500).optional(),
  /** Memory of each of the threads that calculate reports and write exports: as much as till-ingest's have, or more. */
  CALCULATION_HEAP_MB: numberFromEnv(64, 16_384).default(384),
  /** How long a maker of an accounting export may go without a word before another takes it over. */
  EXPORT_CLAIM_SECONDS: numberFromEnv(1, 3_600).default(60),
  /** Bytes of all files of an accounting export, which a process holds in memory while it makes them. */
  EXPORT_MAX_BYTES: numberFromEnv(1_000, 256 * 1024 * 1024).default(16 * 1024 * 1024),
  /** Accounting exports of a location that have not come to their end. */
  EXPORTS_UNFINISHED_PER_LOCATION: numberFromEnv(1).default(20),
  /** How long accounting exports and their files are kept. */
  EXPORTS_KEPT_DAYS: numberFromEnv(1, 36_500).default(400),
});

export type ReportingConfig = z.output<typeof reportingConfig>;

/** What the reporting service stands on. */
export interface ReportingContext {
  db: Database;
  log: Logger;
  config: ReportingConfig;
  objects: ObjectStore;
  calculator: TillCalculator;
  locations: LocationLookup;
  /** Has exports made that are written in the database. */
  wakeExports(): void;
}

export const defineRoute = createRouteDefiner<ReportingContext>();

/** What the routes about accounting have in common. */
export const accountingRoute = { tag: "Accounting", audience: "public", scope: "accounting:write" } as const;
