import { Health } from "@pragma/contracts/health";
import type { ApiOperationDefinition } from "@pragma/runtime/http/define-route";
import { z } from "zod";

const openApiDocumentSchema = z
  .looseObject({ openapi: z.string().meta({ description: "Version of the OpenAPI specification" }) })
  .meta({
    id: "OpenApiDocument",
    description: "An OpenAPI 3.1 document",
    example: { openapi: "3.1.0" },
  });

const responses = {
  200: { description: "The document", schema: openApiDocumentSchema },
  304: { description: "The document has not changed since the version in `If-None-Match`" },
};

/** The operations that the gateway serves itself, for the OpenAPI documents. */
export const gatewayServedOperations: ApiOperationDefinition[] = [
  {
    method: "get",
    path: "/health/",
    operationId: "getHealth",
    tag: "Health",
    audience: "public",
    scope: null,
    summary: "Check API health",
    description:
      "Returns 200 while the API accepts requests. The response contains the uptime, the versions of the software and of the API, and the documentation URL.",
    responses: { 200: { description: "The API accepts requests", schema: Health } },
    errors: [],
    isServedByGateway: true,
  },
  {
    method: "get",
    path: "/openapi.json",
    operationId: "getOpenApi",
    tag: "OpenAPI documents",
    audience: "public",
    scope: null,
    summary: "Download the OpenAPI document",
    description:
      "Returns the OpenAPI 3.1 document with the operations for integrators and POS systems. This reference is generated from the document. You can also generate a typed client from it.",
    responses,
    errors: [],
    isServedByGateway: true,
  },
  {
    method: "get",
    path: "/openapi.full.json",
    operationId: "getFullOpenApi",
    tag: "OpenAPI documents",
    audience: "operator",
    scope: "admin",
    summary: "Download the full OpenAPI document",
    description: "Returns the OpenAPI 3.1 document with all operations, including the operations for operators.",
    responses,
    errors: [],
    isServedByGateway: true,
  },
];
