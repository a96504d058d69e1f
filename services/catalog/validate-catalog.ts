import {
  type Catalog,
  type CatalogItemListName,
  catalogItemListNames,
  catalogListItemSchemasAndLimits,
} from "@pragma/contracts/catalog";
import { appendReceivedValue, type RequestIssue } from "@pragma/contracts/errors";
import { createUniqueIdsCheck } from "@pragma/contracts/fields";
import { getValueAtPath, IssueCollector } from "@pragma/runtime/http/request-issues";
import type { RequestBodyIssues } from "@pragma/runtime/json/body-issues";
import { z } from "zod";

/** JSON limits for one item of a catalog list. No valid item reaches them: a modifier can have at most 500 options. */
const catalogItemLimits = { items: 1_000, levels: 5 };

/** Validates a body item by item, up to the number of issues that a response counts. */
export function validateCatalog(input: unknown): { catalog: Catalog } | RequestBodyIssues {
  const issues = new IssueCollector();
  const body = z.looseObject({}).safeParse(input);
  if (!body.success) {
    issues.addZodError(body.error, input);
    return issues;
  }
  const validated = catalogItemListNames.map((name) => [name, validateList(name, body.data[name], issues)]);
  for (const issue of findDanglingReferences(body.data)) {
    if (issues.hasTooManyIssues) break;
    issues.addIssue(issue);
  }
  return issues.count === 0 ? { catalog: Object.fromEntries(validated) } : issues;
}

function validateList(name: CatalogItemListName, list: unknown, issues: IssueCollector): unknown[] {
  const { itemSchema, itemName, max } = catalogListItemSchemasAndLimits[name];
  if (Array.isArray(list) && list.length > max) {
    issues.addIssue({
      path: name,
      code: "too_big",
      message: appendReceivedValue(`Must have at most ${max} items`, list.length),
    });
    return [];
  }
  const items = z.array(z.custom<{ id?: unknown }>()).check(createUniqueIdsCheck(itemName, "id")).safeParse(list);
  issues.addZodError(items.error, list, name);
  if (!Array.isArray(list)) return [];
  const validated: unknown[] = [];
  for (const [index, element] of list.entries()) {
    if (issues.hasTooManyIssues) break;
    validated.push(issues.parsePart(itemSchema, element, { path: `${name}[${index}]`, limits: catalogItemLimits }));
  }
  return validated;
}

/** Maximum length of ids in error messages, in characters. Longer ids are omitted. */
const maxShownLength = 60;

/**
 * Returns an issue for each reference to a missing category or tax, also in an invalid body. A missing list is an issue
 * itself.
 */
function* findDanglingReferences({
  products,
  categories,
  taxes,
}: Record<string, unknown>): Generator<Omit<RequestIssue, "in">> {
  const categoryIds = fieldValues(categories, "id");
  const percentages = fieldValues(taxes, "percentage");
  for (const [index, product] of entriesOf(products)) {
    const categoryId = getValueAtPath(product, ["categoryId"]);
    if (typeof categoryId === "string" && categoryIds && !categoryIds.has(categoryId)) {
      const expected = "Must be the ID of one of the categories";
      const message =
        categoryId.length <= maxShownLength ? appendReceivedValue(expected, JSON.stringify(categoryId)) : expected;
      yield { path: `products[${index}].categoryId`, code: "unknown_reference", message };
    }
    for (const [position, price] of entriesOf(getValueAtPath(product, ["priceList"]))) {
      const taxRate = getValueAtPath(price, ["taxRate"]);
      if (typeof taxRate !== "number" || taxRate === 0 || !percentages || percentages.has(taxRate)) continue;
      const path = `products[${index}].priceList[${position}].taxRate`;
      const message = appendReceivedValue("Must be the percentage of one of the taxes, or 0", taxRate);
      yield { path, code: "unknown_reference", message };
    }
  }
}

/** Returns the values of a field in all items of a list; undefined if `list` is not an array. */
function fieldValues(list: unknown, field: string): Set<unknown> | undefined {
  return Array.isArray(list) ? new Set(list.map((item) => getValueAtPath(item, [field]))) : undefined;
}

function entriesOf(list: unknown): Iterable<[number, unknown]> {
  return Array.isArray(list) ? list.entries() : [];
}
