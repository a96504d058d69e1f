import { CatalogModifier } from "@pragma/contracts/catalog";
import { z } from "zod";
import { defineRoute } from "../catalog.ts";
import { listQuery, replyWithList } from "../list-reply.ts";

export const listModifiers = defineRoute({
  method: "get",
  path: "/v1/catalog/modifiers/",
  operationId: "listModifiers",
  tag: "Catalogue",
  audience: "public",
  scope: "catalog:read",
  summary: "List modifiers",
  description: "Every choice that products of the location come with, and its options.",
  request: { query: listQuery },
  responses: {
    200: { description: "All modifiers", schema: z.array(CatalogModifier) },
    304: { description: "The client has them already" },
  },
  errors: ["location_forbidden"],
  handle: (input) => replyWithList(input, "modifiers"),
});
