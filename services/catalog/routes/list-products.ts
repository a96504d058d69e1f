import { CatalogProduct } from "@pragma/contracts/catalog";
import { z } from "zod";
import { defineRoute } from "../catalog.ts";
import { listQuery, replyWithList } from "../list-reply.ts";

export const listProducts = defineRoute({
  method: "get",
  path: "/v1/catalog/",
  operationId: "listProducts",
  tag: "Catalogue",
  audience: "public",
  scope: "catalog:read",
  summary: "List products",
  description:
    "Every product of the location, archived ones among them: those have no sub-categories. The entity tag stands for the whole catalogue, and can be given as If-Match to the request that replaces it.",
  request: { query: listQuery },
  responses: {
    200: { description: "All products", schema: z.array(CatalogProduct) },
    304: { description: "The client has them already" },
  },
  errors: ["location_forbidden"],
  handle: (input) => replyWithList(input, "products"),
});
