import { CatalogPayment } from "@pragma/contracts/catalog";
import { z } from "zod";
import { defineRoute } from "../catalog.ts";
import { listQuery, replyWithList } from "../list-reply.ts";

export const listPayments = defineRoute({
  method: "get",
  path: "/v1/catalog/payments/",
  operationId: "listPayments",
  tag: "Catalogue",
  audience: "public",
  scope: "catalog:read",
  summary: "List payment methods",
  description: "Every payment method of the location, enabled or not.",
  request: { query: listQuery },
  responses: {
    200: { description: "All payment methods", schema: z.array(CatalogPayment) },
    304: { description: "The client has them already" },
  },
  errors: ["location_forbidden"],
  handle: (input) => replyWithList(input, "payments"),
});
