import { defineService } from "@pragma/runtime/define-service";
import { locationsFrom } from "@pragma/runtime/locations";
import type { CatalogService } from "./catalog.ts";
import { catalogConfig } from "./catalog.ts";
import { openCatalogReader } from "./read-catalog.ts";
import {
  listCategories,
  listModifiers,
  listPayments,
  listProducts,
  listTaxes,
  replaceCatalogRoute,
} from "./routes/catalog.ts";

/** Keeps what each location sells and how it is paid, as its point of sale says. */
export default defineService<typeof catalogConfig, CatalogService>({
  name: "catalog",
  module: import.meta.url,
  config: catalogConfig,
  open({ db, registry }, config) {
    const reader = openCatalogReader({ threads: 1, heapMegabytes: config.CATALOG_HEAP_MB });
    const locations = locationsFrom(registry, "catalog");
    const quota = { name: "catalog_bytes", maximum: config.CATALOG_BYTES_PER_DAY, unit: "bytes" };
    return { services: { db, locations, reader, quota }, close: () => reader.close() };
  },
  routes: [listProducts, listPayments, listTaxes, listModifiers, listCategories, replaceCatalogRoute],
});
