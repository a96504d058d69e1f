import { type Catalog, type CatalogList, catalogListNames, catalogLists } from "@pragma/contracts/catalog";
import type { Fault } from "@pragma/contracts/errors";
import { refuseTwice } from "@pragma/contracts/fields";
import { type FaultyBody, FoundFaults, valueAt } from "@pragma/runtime/faults";
import { z } from "zod";

/** The extent of one product or modifier: more than its own limits let through. */
const itemLimits = { items: 1_000, levels: 5 };

/**
 * Checks a parsed body against `Catalog`, item by item, so that what a catalogue full of faults costs is bounded; and
 * that every reference in it leads somewhere. All faults are found, whichever others there are.
 */
export function checkCatalog(input: unknown): { catalog: Catalog } | FaultyBody {
  const found = new FoundFaults();
  const body = z.looseObject({}).safeParse(input);
  if (!body.success) {
    found.addFound(body.error, input);
    return found;
  }
  const checked = catalogListNames.map((name) => [name, checkList(name, body.data[name], found)]);
  for (const fault of danglingReferences(body.data)) {
    if (found.arePlenty) break;
    found.add(fault);
  }
  return found.count === 0 ? { catalog: Object.fromEntries(checked) } : found;
}

function checkList(name: CatalogList, list: unknown, found: FoundFaults): unknown[] {
  const { item, what, most } = catalogLists[name];
  if (Array.isArray(list) && list.length > most) {
    found.add({ path: name, code: "too_big", message: `Must have at most ${most} items; got ${list.length}` });
    return [];
  }
  const items = z.array(z.custom<{ id?: unknown }>()).check(refuseTwice(what, "id")).safeParse(list);
  found.addFound(items.error, list, name);
  if (!Array.isArray(list)) return [];
  const checked: unknown[] = [];
  for (const [index, each] of list.entries()) {
    if (found.arePlenty) break;
    checked.push(found.check(item, each, { path: `${name}[${index}]`, limits: itemLimits }));
  }
  return checked;
}

type Body = Record<string, unknown>;
type FaultInBody = Omit<Fault, "in">;

/** Longer ids are not repeated to whoever sent them. */
const maxShownLength = 60;

/**
 * The references of a catalogue that lead nowhere: a product's `categoryId` that no category has, and a price's
 * `taxRate` that is the `percentage` of no tax. A rate of 0 needs no tax. Sub-categories and price lists are no
 * references: the catalogue has no list of them.
 *
 * Looks at a body as it was sent, so that what it finds does not depend on other faults. A list that is missing has
 * faults of its own, and what refers to it has none.
 */
function* danglingReferences({ products, categories, taxes }: Body): Generator<FaultInBody> {
  const categoryIds = valuesOf(categories, "id");
  const percentages = valuesOf(taxes, "percentage");
  for (const [index, product] of listed(products)) {
    const categoryId = valueAt(product, ["categoryId"]);
    if (typeof categoryId === "string" && categoryIds && !categoryIds.has(categoryId)) {
      const got = categoryId.length <= maxShownLength ? `; got ${JSON.stringify(categoryId)}` : "";
      yield unknownReference(`products[${index}].categoryId`, `Must be the id of one of the categories${got}`);
    }
    for (const [position, price] of listed(valueAt(product, ["priceList"]))) {
      const taxRate = valueAt(price, ["taxRate"]);
      if (typeof taxRate !== "number" || taxRate === 0 || !percentages || percentages.has(taxRate)) continue;
      const path = `products[${index}].priceList[${position}].taxRate`;
      yield unknownReference(path, `Must be the percentage of one of the taxes, or 0; got ${taxRate}`);
    }
  }
}

function unknownReference(path: string, message: string): FaultInBody {
  return { path, code: "unknown_reference", message };
}

/** What the items of a list have in a field; undefined when there is no list. */
function valuesOf(list: unknown, field: string): Set<unknown> | undefined {
  return Array.isArray(list) ? new Set(list.map((item) => valueAt(item, [field]))) : undefined;
}

function listed(list: unknown): Iterable<[number, unknown]> {
  return Array.isArray(list) ? list.entries() : [];
}
