import {
  type Catalog,
  type CatalogListName,
  catalogListDefinitions,
  catalogListNames,
} from "@pragma/contracts/catalog";
import type { RequestIssue } from "@pragma/contracts/errors";
import { createUniqueItemsCheck } from "@pragma/contracts/fields";
import { getValueAtPath, IssueCollector } from "@pragma/runtime/http/request-issues";
import type { RequestBodyIssues } from "@pragma/runtime/json/body-issues";
import { z } from "zod";

/** Limits of one product or modifier. They are higher than those of its schema. */
const catalogItemLimits = { items: 1_000, levels: 5 };

/**
 * Checks a parsed body against `Catalog`, and checks its references. Returns the catalog or its issues. Validation goes
 * item by item and stops early in a catalog full of errors, which bounds its cost. No issue hides another.
 */
export function validateCatalog(input: unknown): { catalog: Catalog } | RequestBodyIssues {
  const issues = new IssueCollector();
  const body = z.looseObject({}).safeParse(input);
  if (!body.success) {
    issues.addZodError(body.error, input);
    return issues;
  }
  const validated = catalogListNames.map((name) => [name, validateList(name, body.data[name], issues)]);
  for (const issue of findDanglingReferences(body.data)) {
    if (issues.hasTooManyIssues) break;
    issues.addIssue(issue);
  }
  return issues.count === 0 ? { catalog: Object.fromEntries(validated) } : issues;
}

function validateList(name: CatalogListName, list: unknown, issues: IssueCollector): unknown[] {
  const { itemSchema, itemName, max } = catalogListDefinitions[name];
  if (Array.isArray(list) && list.length > max) {
    issues.addIssue({ path: name, code: "too_big", message: `Must have at most ${max} items; got ${list.length}` });
    return [];
  }
  const items = z.array(z.custom<{ id?: unknown }>()).check(createUniqueItemsCheck(itemName, "id")).safeParse(list);
  issues.addZodError(items.error, list, name);
  if (!Array.isArray(list)) return [];
  const validated: unknown[] = [];
  for (const [index, element] of list.entries()) {
    if (issues.hasTooManyIssues) break;
    validated.push(issues.parsePart(itemSchema, element, { path: `${name}[${index}]`, limits: catalogItemLimits }));
  }
  return validated;
}

type CatalogBody = Record<string, unknown>;
type BodyIssue = Omit<RequestIssue, "in">;

/** Longer ids are left out of error messages. */
const maxShownLength = 60;

/**
 * Returns the issues of references to missing items: a product's `categoryId` without a category, and a price's
 * `taxRate` that is not the `percentage` of a tax. A rate of 0 needs no tax. Sub-categories and price lists are not
 * checked, since a catalog has no list of them.
 *
 * Reads the body before validation, so that the result does not depend on other issues. References to a missing list
 * are ignored, because that list has its own issue.
 */
function* findDanglingReferences({ products, categories, taxes }: CatalogBody): Generator<BodyIssue> {
  const categoryIds = fieldValues(categories, "id");
  const percentages = fieldValues(taxes, "percentage");
  for (const [index, product] of entriesOf(products)) {
    const categoryId = getValueAtPath(product, ["categoryId"]);
    if (typeof categoryId === "string" && categoryIds && !categoryIds.has(categoryId)) {
      const receivedText = categoryId.length <= maxShownLength ? `; got ${JSON.stringify(categoryId)}` : "";
      yield unknownReferenceIssue(
        `products[${index}].categoryId`,
        `Must be the id of one of the categories${receivedText}`,
      );
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

/** Returns the values of a field in all items of a list; undefined if the value is not a list. */
function fieldValues(list: unknown, field: string): Set<unknown> | undefined {
  return Array.isArray(list) ? new Set(list.map((item) => getValueAtPath(item, [field]))) : undefined;
}

function entriesOf(list: unknown): Iterable<[number, unknown]> {
  return Array.isArray(list) ? list.entries() : [];
}
