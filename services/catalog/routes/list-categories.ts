import { CatalogCategory } from "@pragma/contracts/catalog";
import { z } from "zod";
import { defineRoute } from "../catalog.ts";
import { listQuery, replyWithList } from "../list-reply.ts";

export const listCategories = defineRoute({
  method: "get",
  path: "/v1/catalog/categories/",
  operationId: "listCategories",
  tag: "Catalogue",
  audience: "public",
  scope: "catalog:read",
  summary: "List categories",
  description: "Every category of the location's products.",
  request: { query: listQuery },
  responses: {
    200: { description: "All categories", schema: z.array(CatalogCategory) },
    304: { description: "The client has them already" },
  },
  errors: ["location_forbidden"],
  handle: (input) => replyWithList(input, "categories"),
});
