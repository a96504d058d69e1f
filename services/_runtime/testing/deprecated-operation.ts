import { z } from "zod";
import type { ApiOperationDefinition } from "../http/define-route.ts";

/** A deprecated operation, for tests of its responses and of its documentation. */
export const deprecatedTestOperation = {
  method: "get",
  path: "/v1/things/",
  operationId: "listThings",
  tag: "Things",
  audience: "public",
  scope: "tills:read",
  summary: "List things",
  description: "Things.",
  deprecation: { deprecated: "2026-01-01", sunset: "2027-01-01", successor: "/v2/things/" },
  responses: { 200: { description: "Things", schema: z.array(z.string()) } },
  errors: [],
} satisfies ApiOperationDefinition;
