import { defineService } from "@pragma/runtime/service/define-service";
import { createUncachedLocationLookup } from "@pragma/runtime/service-calls/location-lookup";
import { catalogServiceConfigSchema } from "./config.ts";
import type { CatalogServiceContext } from "./context.ts";
import { createCatalogParser } from "./parse-catalog-body.ts";
import { catalogListRoutes, replaceCatalogRoute } from "./routes/catalog.ts";

/** The service that stores the catalogs of locations: products, payment methods, taxes, modifiers and categories. */
export default defineService<typeof catalogServiceConfigSchema, CatalogServiceContext>({
  name: "catalog",
  module: import.meta.url,
  config: catalogServiceConfigSchema,
  createResources({ db, registry }, config) {
    const reader = createCatalogParser({ threads: 1, heapMegabytes: config.CATALOG_READER_HEAP_MB });
    const locations = createUncachedLocationLookup(registry, "catalog");
    const quota = { name: "catalog_bytes", maximum: config.MAX_CATALOG_BYTES_PER_DAY, unit: "bytes" };
    return { services: { db, locations, reader, quota }, close: () => reader.close() };
  },
  routes: [...catalogListRoutes, replaceCatalogRoute],
});
