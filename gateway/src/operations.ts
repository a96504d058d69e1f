import { Health } from "@pragma/contracts/health";
import type { Operation } from "@pragma/runtime/define-route";
import { z } from "zod";

const openApiDocument = z.looseObject({ openapi: z.string() }).meta({
  id: "OpenApiDocument",
  description: "An OpenAPI 3.1 document",
  example: { openapi: "3.1.0" },
});

/** What the gateway answers itself, as it is documented. */
export const operations: Operation[] = [
  {
    method: "get",
    path: "/health/",
    operationId: "getHealth",
    tag: "Health",
    audience: "public",
    scope: null,
    summary: "Whether the API is up",
    description: "Answers as long as requests are taken.",
    responses: { 200: { description: "The API is up", schema: Health } },
    errors: [],
  },
  {
    method: "get",
    path: "/openapi.json",
    operationId: "getOpenApi",
    tag: "Description",
    audience: "public",
    scope: null,
    summary: "This API, described",
    description: "The OpenAPI document of what partners and POS apps use. It carries an ETag.",
    responses: { 200: { description: "The document", schema: openApiDocument } },
    errors: [],
  },
  {
    method: "get",
    path: "/openapi.full.json",
    operationId: "getFullOpenApi",
    tag: "Description",
    audience: "operator",
    scope: "admin",
    summary: "The whole API, described",
    description: "The OpenAPI document with the operators' routes too. It carries an ETag.",
    responses: { 200: { description: "The document", schema: openApiDocument } },
    errors: [],
  },
];
