import { numberFromEnv } from "@pragma/runtime/config";
import type { DailyQuota } from "@pragma/runtime/daily-quota";
import { routesOf } from "@pragma/runtime/define-route";
import type { Locations } from "@pragma/runtime/locations";
import type { Database } from "@pragma/runtime/postgres";
import { z } from "zod";
import type { openCatalogReader } from "./read-catalog.ts";

export const catalogConfig = z.object({
  /** Bytes of changed catalogues that a location may send in a day: a hundred times ten changes of 2 MB. */
  CATALOG_BYTES_PER_DAY: numberFromEnv(1).default(2_000_000_000),
  /** Memory of the thread that parses and checks large catalogues. */
  CATALOG_HEAP_MB: numberFromEnv(64, 16_384).default(384),
});

/** What the catalog service stands on. */
export interface CatalogService {
  db: Database;
  locations: Locations;
  reader: ReturnType<typeof openCatalogReader>;
  quota: DailyQuota;
}

export const defineRoute = routesOf<CatalogService>();
