import type { Database } from "@pragma/runtime/database/postgres";
import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import type { DailyQuota } from "@pragma/runtime/limits/daily-quota";
import type { LocationLookup } from "@pragma/runtime/service-calls/location-lookup";
import type { createCatalogBodyReader } from "./parse-catalog-body.ts";

/** What the routes of the catalog service use. */
export interface CatalogContext {
  db: Database;
  locations: LocationLookup;
  reader: ReturnType<typeof createCatalogBodyReader>;
  /** How many bytes of changed catalogs a location may send in a day. */
  quota: DailyQuota;
}

export const defineRoute = createRouteDefiner<CatalogContext>();
