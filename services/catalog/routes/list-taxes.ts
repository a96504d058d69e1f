import { CatalogTax } from "@pragma/contracts/catalog";
import { z } from "zod";
import { defineRoute } from "../catalog.ts";
import { listQuery, replyWithList } from "../list-reply.ts";

export const listTaxes = defineRoute({
  method: "get",
  path: "/v1/catalog/taxes/",
  operationId: "listTaxes",
  tag: "Catalogue",
  audience: "public",
  scope: "catalog:read",
  summary: "List taxes",
  description: "Every tax of the location.",
  request: { query: listQuery },
  responses: {
    200: { description: "All taxes", schema: z.array(CatalogTax) },
    304: { description: "The client has them already" },
  },
  errors: ["location_forbidden"],
  handle: (input) => replyWithList(input, "taxes"),
});
