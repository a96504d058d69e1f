import { type Catalog, type CatalogList, catalogListNames, catalogLists } from "@pragma/contracts/catalog";
import { refuseTwice } from "@pragma/contracts/refuse-twice";
import { type FaultyBody, FoundFaults } from "@pragma/runtime/faults";
import { z } from "zod";
import { danglingReferences } from "./dangling-references.ts";

/** The extent of one product or modifier: more than its own limits let through. */
const mostOfItem = { items: 1_000, levels: 5 };

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
    checked.push(found.check(item, each, { path: `${name}[${index}]`, limits: mostOfItem }));
  }
  return checked;
}
