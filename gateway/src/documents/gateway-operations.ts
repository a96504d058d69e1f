import { Health } from "@pragma/contracts/health";
import type { OperationDefinition } from "@pragma/runtime/http/define-route";
import { z } from "zod";

const openApiDocumentSchema = z.looseObject({ openapi: z.string() }).meta({
  id: "OpenApiDocument",
  description: "An OpenAPI 3.1 document",
  example: { openapi: "3.1.0" },
});

const responses = {
  200: { description: "The document", schema: openApiDocumentSchema },
  304: { description: "The client has it already" },
};

/** What the gateway answers itself, as it is documented. */
export const gatewayOperations: OperationDefinition[] = [
  {
    method: "get",
    path: "/health/",
    operationId: "getHealth",
    tag: "Health",
    audience: "public",
    scope: null,
    summary: "Ask whether the API is up",
    description:
      "Answers as long as the API takes requests, with where its documentation is and which versions it has.",
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
    summary: "Get the description of this API",
    description:
      "The OpenAPI 3.1 document of what partners and POS apps use: what this reference, and typed clients, are made from.",
    responses,
    errors: [],
  },
  {
    method: "get",
    path: "/openapi.full.json",
    operationId: "getFullOpenApi",
    tag: "Description",
    audience: "operator",
    scope: "admin",
    summary: "Get the description of the whole API",
    description: "The OpenAPI 3.1 document with the operators' routes too.",
    responses,
    errors: [],
  },
];
