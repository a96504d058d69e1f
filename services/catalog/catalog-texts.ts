import { type Catalog, type CatalogCounts, type CatalogList, catalogListNames } from "@pragma/contracts/catalog";
import { entityTagOf } from "@pragma/runtime/reply";

/** A list as it is stored and sent: its JSON, and the entity tag that stands for it. */
export interface ListText {
  body: string;
  etag: string;
}

/** A catalogue as it is stored and sent. */
export interface CatalogTexts {
  /** Stands for all five lists: the same for the same content, whenever and wherever it is sent. */
  etag: string;
  lists: Record<CatalogList, ListText>;
  counts: CatalogCounts;
}

/** Writes a catalogue down: fields in the order of the schemas, items in the order that they came in. */
export function writeCatalog(catalog: Catalog): CatalogTexts {
  const lists = ofEachList((name) => writeList(catalog[name]));
  const etag = entityTagOf(catalogListNames.map((name) => lists[name].etag).join());
  return { etag, lists, counts: ofEachList((name) => catalog[name].length) };
}

/** What a location has that was never sent a catalogue. */
export const emptyCatalog = writeCatalog({ products: [], payments: [], taxes: [], modifiers: [], categories: [] });

function writeList(items: unknown[]): ListText {
  const body = JSON.stringify(items);
  return { body, etag: entityTagOf(body) };
}

function ofEachList<Value>(make: (name: CatalogList) => Value): Record<CatalogList, Value> {
  return Object.fromEntries(catalogListNames.map((name) => [name, make(name)])) as Record<CatalogList, Value>;
}
