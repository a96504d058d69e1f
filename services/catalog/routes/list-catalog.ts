import {
  CatalogCategory,
  type CatalogList,
  CatalogModifier,
  CatalogPayment,
  CatalogProduct,
  CatalogTax,
} from "@pragma/contracts/catalog";
import { entityTagsIn } from "@pragma/runtime/entity-tags";
import { ownLocation } from "@pragma/runtime/own-location";
import { tagged } from "@pragma/runtime/reply";
import { z } from "zod";
import { defineRoute } from "../catalog.ts";
import { findList } from "../queries/catalogs.ts";

const query = z.object({
  locationId: z.guid().optional().meta({ description: "The location of the key, unless the key may act for any" }),
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
      const { body, etag } = await findList(services.db.sql, { locationId, list, known: entityTagsIn(ifNoneMatch) });
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
