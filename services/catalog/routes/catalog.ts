import {
  Catalog,
  CatalogCategory,
  type CatalogListName,
  CatalogModifier,
  CatalogPayment,
  CatalogProduct,
  CatalogTax,
  ReplacedCatalog,
} from "@pragma/contracts/catalog";
import { ApiError } from "@pragma/contracts/errors";
import { createKeyedSemaphore } from "@pragma/runtime/concurrency/semaphore";
import type { RequestBodyParser } from "@pragma/runtime/http/define-route";
import { conditionalJsonResponse, jsonResponse, parseEntityTags } from "@pragma/runtime/http/route-response";
import { consumeDailyQuota } from "@pragma/runtime/limits/daily-quota";
import { publishEvent } from "@pragma/runtime/messaging/outbox";
import type { RequestContext } from "@pragma/runtime/observability/request-context";
import {
  locationIdQueryParam,
  resolveLocationId,
  resolveLocationRef,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { type CatalogContext, defineRoute } from "../context.ts";
import { findCatalogList, lockCatalog, upsertCatalog } from "../queries/catalogs.ts";
import type { SerializedCatalog } from "../serialize-catalog.ts";

/** A key's lists are read one at a time: they may be large, and would keep the requests of other keys waiting. */
const listReadSemaphore = createKeyedSemaphore(1);

const listCatalogQuery = z.object({
  locationId: locationIdQueryParam(),
});

interface CatalogListRoute {
  path: `/${string}`;
  operationId: string;
  /** What the list holds, in the plural. */
  items: string;
  /** Of one of them. */
  schema: z.ZodType;
  description: string;
}

/** Answers a whole list of a location's catalogue as a bare array; a location without a catalogue has an empty one. */
function defineListRoute(list: CatalogListName, { path, operationId, items, schema, description }: CatalogListRoute) {
  return defineRoute({
    method: "get",
    path,
    operationId,
    tag: "Catalog",
    audience: "public",
    scope: "catalog:read",
    summary: `List ${items}`,
    description,
    request: { query: listCatalogQuery },
    responses: {
      200: { description: `All ${items}`, schema: z.array(schema) },
      304: { description: "The client has them already" },
    },
    errors: ["location_forbidden"],
    async handle({ query, principal, services, header }) {
      const locationId = resolveLocationId(principal, query.locationId);
      const ifNoneMatch = header("if-none-match");
      const listRequest = { locationId, list, known: parseEntityTags(ifNoneMatch) };
      const { body, etag } = await listReadSemaphore.run(
        () => findCatalogList(services.db.sql, listRequest),
        principal.keyId,
      );
      return conditionalJsonResponse(body ?? "", { etag, ifNoneMatch });
    },
  });
}

export const listCatalogProducts = defineListRoute("products", {
  path: "/v1/catalog/",
  operationId: "listProducts",
  items: "products",
  schema: CatalogProduct,
  description:
    "Every product of the location, archived ones among them: those have no sub-categories. The entity tag stands for the whole catalogue, and can be given as If-Match to the request that replaces it.",
});

export const listCatalogPayments = defineListRoute("payments", {
  path: "/v1/catalog/payments/",
  operationId: "listPayments",
  items: "payment methods",
  schema: CatalogPayment,
  description: "Every payment method of the location, enabled or not.",
});

export const listCatalogTaxes = defineListRoute("taxes", {
  path: "/v1/catalog/taxes/",
  operationId: "listTaxes",
  items: "taxes",
  schema: CatalogTax,
  description: "Every tax of the location.",
});

export const listCatalogModifiers = defineListRoute("modifiers", {
  path: "/v1/catalog/modifiers/",
  operationId: "listModifiers",
  items: "modifiers",
  schema: CatalogModifier,
  description: "Every choice that products of the location come with, and its options.",
});

export const listCatalogCategories = defineListRoute("categories", {
  path: "/v1/catalog/categories/",
  operationId: "listCategories",
  items: "categories",
  schema: CatalogCategory,
  description: "Every category of the location's products.",
});

const mebibyte = 1024 * 1024;

/** A whole catalogue as the body of a request: read and checked beside the requests, and written down as it is sent. */
const catalogRequestBody: RequestBodyParser<SerializedCatalog, CatalogContext> = {
  schema: Catalog,
  maxBytes: 20 * mebibyte,
  async parse(bytes, { reader }, sender) {
    const { result } = await reader.read(bytes, undefined, sender);
    return "issues" in result ? result : { value: result };
  },
};

export const replaceCatalogRoute = defineRoute({
  method: "put",
  path: "/v1/catalog/",
  operationId: "replaceCatalog",
  tag: "Catalog",
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
      locationId: locationIdQueryParam(
        "The location whose catalogue it is: the key's own, unless the key may act for any",
      ),
    }),
    body: catalogRequestBody,
  },
  responses: { 200: { description: "The catalogue as it is now, in short", schema: ReplacedCatalog } },
  errors: ["location_forbidden", "location_not_found", "precondition_failed", "quota_exceeded"],
  async handle({ body: catalog, query, principal, services, context, header }) {
    const { id: locationId } = await resolveLocationRef(principal, query.locationId, services.locations, context);
    const replaced = await replaceCatalog(services, { locationId, catalog, ifMatch: header("if-match"), context });
    context.addLogFields({ changed: replaced.changed, counts: replaced.counts });
    return jsonResponse(200, replaced satisfies ReplacedCatalog, { etag: `"${replaced.etag}"` });
  },
});

interface CatalogReplacement {
  locationId: string;
  catalog: SerializedCatalog;
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
  { db, quota }: Pick<CatalogContext, "db" | "quota">,
  { locationId, catalog, ifMatch, context: { traceparent } }: CatalogReplacement,
): Promise<ReplacedCatalog> {
  return db.transaction(async (tx) => {
    const current = await lockCatalog(tx, locationId);
    const { etag, counts } = catalog;
    const changed = current.etag !== etag;
    // One that is in place already did what was asked: its answer may have been lost.
    if (changed && ifMatch !== undefined) requireMatchingEtag(parseEntityTags(ifMatch), current.etag);
    if (changed) await consumeDailyQuota(tx, { locationId, quota, amount: catalogByteLength(catalog) });
    const { updatedAt } = changed ? await upsertCatalog(tx, locationId, catalog) : current;
    if (changed) {
      const data = { locationId, etag, counts };
      await publishEvent(tx, "catalog.updated", { subject: locationId, data, traceparent });
    }
    return { locationId, updatedAt: updatedAt.toISOString(), changed, etag, counts };
  });
}

function catalogByteLength({ lists }: SerializedCatalog): number {
  return Object.values(lists).reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
}

/** A catalogue always exists, be it empty: `*` matches each. */
function requireMatchingEtag(tags: string[], etag: string): void {
  if (tags.includes(etag) || tags.includes("*")) return;
  throw new ApiError("precondition_failed", {
    detail: "The catalogue is another than If-Match says. Read it again, and send yours with the new entity tag.",
    headers: { etag: `"${etag}"` },
  });
}
