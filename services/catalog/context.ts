import { numberFromEnv } from "@pragma/runtime/config/runtime-config";
import type { Database } from "@pragma/runtime/database/postgres";
import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import type { DailyQuota } from "@pragma/runtime/limits/daily-quota";
import type { LocationLookup } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import type { createCatalogBodyReader } from "./parse-catalog-body.ts";

export const catalogConfig = z.object({
  /** Bytes of changed catalogues that a location may send in a day: a hundred times ten changes of 2 MB. */
  CATALOG_BYTES_PER_DAY: numberFromEnv(1).default(2_000_000_000),
  /** Memory of the thread that parses and checks large catalogues. */
  CATALOG_HEAP_MB: numberFromEnv(64, 16_384).default(384),
});

/** What the catalog service stands on. */
export interface CatalogContext {
  db: Database;
  locations: LocationLookup;
  reader: ReturnType<typeof createCatalogBodyReader>;
  quota: DailyQuota;
}

export const defineRoute = createRouteDefiner<CatalogContext>();
