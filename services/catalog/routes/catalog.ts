import {
  Catalog,
  CatalogCategory,
  type CatalogItemListName,
  CatalogModifierGroup,
  CatalogPaymentMethod,
  CatalogProduct,
  CatalogTax,
  ReplaceCatalogResponse,
} from "@pragma/contracts/catalog";
import { Admission } from "@pragma/runtime/admission/admission";
import { locationLimits } from "@pragma/runtime/admission/limits";
import type { RequestBodyParser } from "@pragma/runtime/http/define-route";
import { createConditionalJsonResponse, jsonResponse, parseEntityTags } from "@pragma/runtime/http/route-response";
import {
  locationIdQueryParameter,
  resolveAuthorizedLocationId,
  resolveRequestedLocation,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { type CatalogServiceContext, defineCatalogRoute } from "../context.ts";
import { findCatalogItemList } from "../queries/catalogs.ts";
import { replaceCatalog } from "../replace-catalog.ts";
import type { SerializedCatalog } from "../serialize-catalog.ts";

const listReads = new Admission(locationLimits.catalogLists);

interface CatalogListRoute {
  path: `/${string}`;
  operationId: string;
  items: string;
  schema: z.ZodType;
  description: string;
}

/** Returns a route for one list of a catalog. The response is an empty array if the location has no catalog. */
function defineListRoute(
  list: CatalogItemListName,
  { path, operationId, items, schema, description }: CatalogListRoute,
) {
  return defineCatalogRoute({
    method: "get",
    path,
    operationId,
    tag: "Catalog",
    audience: "public",
    scope: "catalog:read",
    summary: `List ${items}`,
    description,
    request: { query: z.object({ locationId: locationIdQueryParameter() }) },
    responses: {
      200: { description: `All ${items} of the location`, schema: z.array(schema) },
      304: { description: "The client's cached response is current" },
    },
    errors: ["location_forbidden"],
    async handle({ query, principal, services, header, readResponseBody }) {
      const locationId = resolveAuthorizedLocationId(principal, query.locationId);
      const ifNoneMatch = header("if-none-match");
      const listRequest = { locationId, list, cachedEtags: parseEntityTags(ifNoneMatch) };
      const { body, etag } = await readResponseBody((maxBytes) =>
        listReads.run(() => findCatalogItemList(services.db.sql, { ...listRequest, maxBytes }), principal.keyId),
      );
      return createConditionalJsonResponse(body ?? "", { etag, ifNoneMatch });
    },
  });
}

export const catalogListRoutes = [
  defineListRoute("products", {
    path: "/v1/catalog/",
    operationId: "listProducts",
    items: "products",
    schema: CatalogProduct,
    description:
      "Returns every product of the location, including archived products, which have no subcategories. The `ETag` of the response identifies the current version of the whole catalog. Send this value as `If-Match` when you replace the catalog.",
  }),
  defineListRoute("payments", {
    path: "/v1/catalog/payments/",
    operationId: "listPayments",
    items: "payment methods",
    schema: CatalogPaymentMethod,
    description: "Returns every payment method of the location, including disabled payment methods.",
  }),
  defineListRoute("taxes", {
    path: "/v1/catalog/taxes/",
    operationId: "listTaxes",
    items: "taxes",
    schema: CatalogTax,
    description: "Returns every tax of the location, with its rate.",
  }),
  defineListRoute("modifiers", {
    path: "/v1/catalog/modifiers/",
    operationId: "listModifiers",
    items: "modifiers",
    schema: CatalogModifierGroup,
    description:
      "Returns every modifier of the location. A modifier is a group of options for a product, such as toppings.",
  }),
  defineListRoute("categories", {
    path: "/v1/catalog/categories/",
    operationId: "listCategories",
    items: "categories",
    schema: CatalogCategory,
    description: "Returns every product category of the location.",
  }),
];

const mebibyte = 1024 * 1024;

/** The parser of catalog bodies. It parses large bodies in a worker thread, so that they do not block requests. */
const catalogRequestBody: RequestBodyParser<SerializedCatalog, CatalogServiceContext> = {
  schema: Catalog,
  maxBytes: 20 * mebibyte,
  async parse(bytes, { reader }, sender) {
    const { result } = await reader.read(bytes, undefined, sender);
    return "issues" in result ? result : { value: result };
  },
};

export const replaceCatalogRoute = defineCatalogRoute({
  method: "put",
  path: "/v1/catalog/",
  operationId: "replaceCatalog",
  tag: "Catalog",
  audience: "public",
  scope: "catalog:write",
  summary: "Replace the catalog",
  description:
    "Replaces the whole catalog of the location. If the request is invalid, the catalog is not changed. " +
    "Each ID must be unique in its list. The `categoryId` of a product must be the ID of a category. The `taxRate` of a price must be 0 or the `percentage` of a tax. The IDs of subcategories and price lists are not checked, because a catalog contains no lists of them. " +
    "Sending the same catalog again has no effect. " +
    "With `If-Match`, the catalog is replaced only if its current `ETag` matches. Even with `If-Match`, you can safely repeat a request whose response was lost. " +
    "You can compress the body with gzip. The maximum size is 20 MB after decompression.",
  request: {
    headers: z.object({
      "If-Match": z.string().optional().meta({
        description:
          "`ETag` of the catalog to replace, from the list of products or from the response to the last replacement",
        example: '"8k0GvXkP2mT4qYw1Zc5uRA"',
      }),
    }),
    query: z.object({
      locationId: locationIdQueryParameter(
        "ID of the catalog's location. Defaults to the API key's location. Any other location requires the scope `locations:any`.",
      ),
    }),
    body: catalogRequestBody,
  },
  responses: {
    200: {
      description:
        "The version of the current catalog, whether the catalog changed, and the number of items in each list",
      schema: ReplaceCatalogResponse,
    },
  },
  errors: ["location_forbidden", "location_not_found", "precondition_failed", "quota_exceeded"],
  async handle({ body: catalog, query, principal, services, context, header }) {
    const { id: locationId } = await resolveRequestedLocation(principal, query.locationId, services.locations, context);
    const replaced = await replaceCatalog(services, { locationId, catalog, ifMatch: header("if-match"), context });
    context.addLogFields({ changed: replaced.changed, counts: replaced.counts });
    return jsonResponse(200, replaced satisfies ReplaceCatalogResponse, { etag: `"${replaced.etag}"` });
  },
});
