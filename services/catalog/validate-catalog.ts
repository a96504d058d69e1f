import {
  type Catalog,
  type CatalogListName,
  catalogListDefinitions,
  catalogListNames,
} from "@pragma/contracts/catalog";
import type { RequestIssue } from "@pragma/contracts/errors";
import { uniqueItemsCheck } from "@pragma/contracts/fields";
import { getValueAtPath, IssueCollector } from "@pragma/runtime/http/request-issues";
import type { BodyIssues } from "@pragma/runtime/json/body-issues";
import { z } from "zod";

/** The extent of one product or modifier: more than its own limits let through. */
const catalogItemLimits = { items: 1_000, levels: 5 };

/**
 * Checks a parsed body against `Catalog`, item by item, so that what a catalogue full of faults costs is bounded; and
 * that every reference in it leads somewhere. All faults are found, whichever others there are.
 */
export function validateCatalog(input: unknown): { catalog: Catalog } | BodyIssues {
  const issues = new IssueCollector();
  const body = z.looseObject({}).safeParse(input);
  if (!body.success) {
    issues.addZodError(body.error, input);
    return issues;
  }
  const validated = catalogListNames.map((name) => [name, validateList(name, body.data[name], issues)]);
  for (const fault of findDanglingReferences(body.data)) {
    if (issues.hasTooManyIssues) break;
    issues.addIssue(fault);
  }
  return issues.count === 0 ? { catalog: Object.fromEntries(validated) } : issues;
}

function validateList(name: CatalogListName, list: unknown, issues: IssueCollector): unknown[] {
  const { item, what, most } = catalogListDefinitions[name];
  if (Array.isArray(list) && list.length > most) {
    issues.addIssue({ path: name, code: "too_big", message: `Must have at most ${most} items; got ${list.length}` });
    return [];
  }
  const items = z.array(z.custom<{ id?: unknown }>()).check(uniqueItemsCheck(what, "id")).safeParse(list);
  issues.addZodError(items.error, list, name);
  if (!Array.isArray(list)) return [];
  const validated: unknown[] = [];
  for (const [index, element] of list.entries()) {
    if (issues.hasTooManyIssues) break;
    validated.push(issues.parsePart(item, element, { path: `${name}[${index}]`, limits: catalogItemLimits }));
  }
  return validated;
}

type CatalogBody = Record<string, unknown>;
type BodyIssue = Omit<RequestIssue, "in">;

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
function* findDanglingReferences({ products, categories, taxes }: CatalogBody): Generator<BodyIssue> {
  const categoryIds = fieldValues(categories, "id");
  const percentages = fieldValues(taxes, "percentage");
  for (const [index, product] of entriesOf(products)) {
    const categoryId = getValueAtPath(product, ["categoryId"]);
    if (typeof categoryId === "string" && categoryIds && !categoryIds.has(categoryId)) {
      const got = categoryId.length <= maxShownLength ? `; got ${JSON.stringify(categoryId)}` : "";
      yield unknownReferenceIssue(`products[${index}].categoryId`, `Must be the id of one of the categories${got}`);
    }
    for (const [position, price] of entriesOf(getValueAtPath(product, ["priceList"]))) {
      const taxRate = getValueAtPath(price, ["taxRate"]);
      if (typeof taxRate !== "number" || taxRate === 0 || !percentages || percentages.has(taxRate)) continue;
      const path = `products[${index}].priceList[${position}].taxRate`;
      yield unknownReferenceIssue(path, `Must be the percentage of one of the taxes, or 0; got ${taxRate}`);
    }
  }
}

function unknownReferenceIssue(path: string, message: string): BodyIssue {
  return { path, code: "unknown_reference", message };
}

/** What the items of a list have in a field; undefined when there is no list. */
function fieldValues(list: unknown, field: string): Set<unknown> | undefined {
  return Array.isArray(list) ? new Set(list.map((item) => getValueAtPath(item, [field]))) : undefined;
}

function entriesOf(list: unknown): Iterable<[number, unknown]> {
  return Array.isArray(list) ? list.entries() : [];
}
