import { Catalog } from "@pragma/contracts/catalog";
import type { BodyReader } from "@pragma/runtime/define-route";
import type { CatalogService } from "./catalog.ts";
import type { CatalogTexts } from "./catalog-texts.ts";

const mebibyte = 1024 * 1024;

/** A whole catalogue as the body of a request: read and checked beside the requests, and written down as it is sent. */
export const catalogBody: BodyReader<CatalogTexts, CatalogService> = {
  schema: Catalog,
  limit: 20 * mebibyte,
  async read(bytes, { reader }, sender) {
    const catalog = await reader.read(bytes, sender);
    return "faults" in catalog ? catalog : { value: catalog };
  },
};
