import {
  type Catalog,
  type CatalogCounts,
  type CatalogItemListName,
  catalogItemListNames,
} from "@pragma/contracts/catalog";
import { computeEntityTag } from "@pragma/runtime/http/route-response";

/** A list of a catalog as it is stored and returned: JSON text with an entity tag. */
export interface SerializedCatalogItemList {
  body: string;
  etag: string;
}

export interface SerializedCatalog {
  /** Hash of all five lists. Catalogs with equal content have the same tag, even in different locations. */
  etag: string;
  lists: Record<CatalogItemListName, SerializedCatalogItemList>;
  counts: CatalogCounts;
}

/** Serializes a validated catalog. Validation has sorted the fields as in the schemas, but not the items. */
export function serializeCatalogLists(catalog: Catalog): SerializedCatalog {
  const lists = mapCatalogLists((name) => serializeList(catalog[name]));
  const etag = computeEntityTag(catalogItemListNames.map((name) => lists[name].etag).join());
  return { etag, lists, counts: mapCatalogLists((name) => catalog[name].length) };
}

/** The catalog of a location that has never sent a catalog. */
export const emptySerializedCatalog = serializeCatalogLists({
  products: [],
  payments: [],
  taxes: [],
  modifiers: [],
  categories: [],
});

function serializeList(items: unknown[]): SerializedCatalogItemList {
  const body = JSON.stringify(items);
  return { body, etag: computeEntityTag(body) };
}

function mapCatalogLists<Value>(compute: (name: CatalogItemListName) => Value): Record<CatalogItemListName, Value> {
  return Object.fromEntries(catalogItemListNames.map((name) => [name, compute(name)])) as Record<
    CatalogItemListName,
    Value
  >;
}
