import {
  Catalog,
  CatalogCategory,
  type CatalogList,
  CatalogModifier,
  CatalogPayment,
  CatalogProduct,
  CatalogTax,
  ReplacedCatalog,
} from "@pragma/contracts/catalog";
import { ApiError } from "@pragma/contracts/errors";
import { consumeDailyQuota } from "@pragma/runtime/daily-quota";
import type { BodyReader } from "@pragma/runtime/define-route";
import { locationInQuery, namedLocation, ownLocation } from "@pragma/runtime/locations";
import { publish } from "@pragma/runtime/outbox";
import { entityTagsIn, json, tagged } from "@pragma/runtime/reply";
import type { RequestContext } from "@pragma/runtime/request-context";
import { createSemaphore } from "@pragma/runtime/semaphore";
import { z } from "zod";
import { type CatalogService, defineRoute } from "../catalog.ts";
import type { CatalogTexts } from "../catalog-texts.ts";
import { findList, lockCatalog, putCatalog } from "../queries/catalogs.ts";

/** A key's lists are read one at a time: they may be large, and would keep the requests of other keys waiting. */
const reading = createSemaphore(1);

const query = z.object({
  locationId: locationInQuery(),
});

interface ListRoute {
  path: `/${string}`;
  operationId: string;
  /** What the list holds, in the plural. */
  items: string;
  /** Of one of them. */
  schema: z.ZodType;
  description: string;
}

/** Answers a whole list of a location's catalogue as a bare array; a location without a catalogue has an empty one. */
function listRoute(list: CatalogList, { path, operationId, items, schema, description }: ListRoute) {
  return defineRoute({
    method: "get",
    path,
    operationId,
    tag: "Catalogue",
    audience: "public",
    scope: "catalog:read",
    summary: `List ${items}`,
    description,
    request: { query },
    responses: {
      200: { description: `All ${items}`, schema: z.array(schema) },
      304: { description: "The client has them already" },
    },
    errors: ["location_forbidden"],
    async handle({ query, principal, services, header }) {
      const locationId = ownLocation(principal, query.locationId);
      const ifNoneMatch = header("if-none-match");
      const asked = { locationId, list, known: entityTagsIn(ifNoneMatch) };
      const { body, etag } = await reading.run(() => findList(services.db.sql, asked), principal.keyId);
      return tagged(body ?? "", { etag, ifNoneMatch });
    },
  });
}

export const listProducts = listRoute("products", {
  path: "/v1/catalog/",
  operationId: "listProducts",
  items: "products",
  schema: CatalogProduct,
  description:
    "Every product of the location, archived ones among them: those have no sub-categories. The entity tag stands for the whole catalogue, and can be given as If-Match to the request that replaces it.",
});

export const listPayments = listRoute("payments", {
  path: "/v1/catalog/payments/",
  operationId: "listPayments",
  items: "payment methods",
  schema: CatalogPayment,
  description: "Every payment method of the location, enabled or not.",
});

export const listTaxes = listRoute("taxes", {
  path: "/v1/catalog/taxes/",
  operationId: "listTaxes",
  items: "taxes",
  schema: CatalogTax,
  description: "Every tax of the location.",
});

export const listModifiers = listRoute("modifiers", {
  path: "/v1/catalog/modifiers/",
  operationId: "listModifiers",
  items: "modifiers",
  schema: CatalogModifier,
  description: "Every choice that products of the location come with, and its options.",
});

export const listCategories = listRoute("categories", {
  path: "/v1/catalog/categories/",
  operationId: "listCategories",
  items: "categories",
  schema: CatalogCategory,
  description: "Every category of the location's products.",
});

const mebibyte = 1024 * 1024;

/** A whole catalogue as the body of a request: read and checked beside the requests, and written down as it is sent. */
const catalogBody: BodyReader<CatalogTexts, CatalogService> = {
  schema: Catalog,
  limit: 20 * mebibyte,
  async read(bytes, { reader }, sender) {
    const { result } = await reader.read(bytes, undefined, sender);
    return "faults" in result ? result : { value: result };
  },
};

export const replaceCatalogRoute = defineRoute({
  method: "put",
  path: "/v1/catalog/",
  operationId: "replaceCatalog",
  tag: "Catalogue",
  audience: "public",
  scope: "catalog:write",
  summary: "Replace the catalogue",
  description:
    "Puts a whole catalogue in the place of the one that the location has: all five lists at once, or none when anything is wrong with one. " +
    "No id may come twice in its list. A product's categoryId must be the id of one of the categories, and the taxRate of its prices the percentage of one of the taxes, or 0; sub-categories and price lists are no references. " +
    "The same catalogue again changes nothing. " +
    "With If-Match it takes the place only of the catalogue with that entity tag; a request whose answer was lost can be repeated as it was. " +
    "The body may be sent with gzip, and be 20 MB large at most after inflating.",
  request: {
    headers: z.object({
      "If-Match": z.string().optional().meta({
        description: "The ETag of the catalogue that this one is to replace, as any of its lists was answered with",
        example: '"8k0GvXkP2mT4qYw1Zc5uRA"',
      }),
    }),
    query: z.object({
      locationId: locationInQuery("The location whose catalogue it is: the key's own, unless the key may act for any"),
    }),
    body: catalogBody,
  },
  responses: { 200: { description: "The catalogue as it is now, in short", schema: ReplacedCatalog } },
  errors: ["location_forbidden", "location_not_found", "precondition_failed", "quota_exceeded"],
  async handle({ body: catalog, query, principal, services, context, header }) {
    const { id: locationId } = await namedLocation(principal, query.locationId, services.locations, context);
    const replaced = await replaceCatalog(services, { locationId, catalog, ifMatch: header("if-match"), context });
    context.addToLog({ changed: replaced.changed, counts: replaced.counts });
    return json(200, replaced satisfies ReplacedCatalog, { etag: `"${replaced.etag}"` });
  },
});

interface ReplaceCatalog {
  locationId: string;
  catalog: CatalogTexts;
  /** The header of that name: the catalogue that the new one is to take the place of, if it says. */
  ifMatch: string | undefined;
  context: RequestContext;
}

/**
 * Puts a catalogue in the place of the one that the location has, with its `catalog.updated`, in one transaction; the
 * same catalogue changes nothing. Of catalogues that come at once each takes the place of the one before, whole.
 *
 * @throws `ApiError` precondition_failed when the location has another than `ifMatch` names; quota_exceeded.
 */
async function replaceCatalog(
  { db, quota }: Pick<CatalogService, "db" | "quota">,
  { locationId, catalog, ifMatch, context: { traceparent } }: ReplaceCatalog,
): Promise<ReplacedCatalog> {
  return db.transaction(async (tx) => {
    const held = await lockCatalog(tx, locationId);
    const { etag, counts } = catalog;
    const changed = held.etag !== etag;
    // One that is in place already did what was asked: its answer may have been lost.
    if (changed && ifMatch !== undefined) demandMatch(entityTagsIn(ifMatch), held.etag);
    if (changed) await consumeDailyQuota(tx, { locationId, quota, amount: bytesOf(catalog) });
    const { updatedAt } = changed ? await putCatalog(tx, locationId, catalog) : held;
    if (changed) {
      const data = { locationId, etag, counts };
      await publish(tx, "catalog.updated", { subject: locationId, data, traceparent });
    }
    return { locationId, updatedAt: updatedAt.toISOString(), changed, etag, counts };
  });
}

function bytesOf({ lists }: CatalogTexts): number {
  return Object.values(lists).reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
}

/** A catalogue always exists, be it empty: `*` matches each. */
function demandMatch(tags: string[], etag: string): void {
  if (tags.includes(etag) || tags.includes("*")) return;
  throw new ApiError("precondition_failed", {
    detail: "The catalogue is another than If-Match says. Read it again, and send yours with the new entity tag.",
    headers: { etag: `"${etag}"` },
  });
}
