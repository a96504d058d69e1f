import { type Catalog, type CatalogCounts, type CatalogListName, catalogListNames } from "@pragma/contracts/catalog";
import { computeEntityTag } from "@pragma/runtime/http/route-response";

/** A list as it is stored and sent: its JSON, and the entity tag that stands for it. */
export interface SerializedCatalogList {
  body: string;
  etag: string;
}

/** A catalogue as it is stored and sent. */
export interface SerializedCatalog {
  /** Stands for all five lists: the same for the same content, whenever and wherever it is sent. */
  etag: string;
  lists: Record<CatalogListName, SerializedCatalogList>;
  counts: CatalogCounts;
}

/** Writes a catalogue down: fields in the order of the schemas, items in the order that they came in. */
export function serializeCatalog(catalog: Catalog): SerializedCatalog {
  const lists = mapCatalogLists((name) => serializeList(catalog[name]));
  const etag = computeEntityTag(catalogListNames.map((name) => lists[name].etag).join());
  return { etag, lists, counts: mapCatalogLists((name) => catalog[name].length) };
}

/** What a location has that was never sent a catalogue. */
export const emptyCatalog = serializeCatalog({ products: [], payments: [], taxes: [], modifiers: [], categories: [] });

function serializeList(items: unknown[]): SerializedCatalogList {
  const body = JSON.stringify(items);
  return { body, etag: computeEntityTag(body) };
}

function mapCatalogLists<Value>(compute: (name: CatalogListName) => Value): Record<CatalogListName, Value> {
  return Object.fromEntries(catalogListNames.map((name) => [name, compute(name)])) as Record<CatalogListName, Value>;
}
