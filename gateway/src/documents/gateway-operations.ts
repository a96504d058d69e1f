import { Health } from "@pragma/contracts/health";
import { MostUsedQuotas } from "@pragma/contracts/quota";
import { ServiceList } from "@pragma/contracts/service-health";
import type { ApiOperationDefinition } from "@pragma/runtime/http/define-route";
import { z } from "zod";

const openApiDocumentSchema = z
  .looseObject({ openapi: z.string().meta({ description: "Version of the OpenAPI specification" }) })
  .meta({
    id: "OpenApiDocument",
    description: "An OpenAPI 3.1 document",
    example: { openapi: "3.1.0" },
  });

const asyncApiDocumentSchema = z
  .looseObject({ asyncapi: z.string().meta({ description: "Version of the AsyncAPI specification" }) })
  .meta({
    id: "AsyncApiDocument",
    description: "An AsyncAPI 3.0 document",
    example: { asyncapi: "3.0.0" },
  });

const describeDocument = (schema: z.ZodType) => ({
  200: { description: "The document", schema },
  304: { description: "The document has not changed since the version in `If-None-Match`" },
});

const shared = {
  method: "get",
  audience: "public",
  scope: null,
  errors: [],
  isServedByGateway: true,
} satisfies Partial<ApiOperationDefinition>;

/** The operations that the gateway serves itself, for the OpenAPI documents. */
export const gatewayServedOperations: ApiOperationDefinition[] = [
  {
    ...shared,
    path: "/health/",
    operationId: "getHealth",
    tag: "Health",
    summary: "Check API health",
    description:
      "Returns 200 while the API accepts requests. The response contains the uptime, the versions of the software and of the API, and the documentation URL.",
    responses: { 200: { description: "The API accepts requests", schema: Health } },
  },
  {
    ...shared,
    path: "/openapi.json",
    operationId: "getOpenApi",
    tag: "API documents",
    summary: "Download the OpenAPI document",
    description:
      "Returns the OpenAPI 3.1 document with the operations for integrators and POS systems. This reference is generated from the document. You can also generate a typed client from it.",
    responses: describeDocument(openApiDocumentSchema),
  },
  {
    ...shared,
    path: "/asyncapi.json",
    operationId: "getAsyncApi",
    tag: "API documents",
    summary: "Download the AsyncAPI document",
    description:
      "Returns the AsyncAPI 3.0 document of the webhook messages: their headers, their bodies and their signatures. You can generate types and receivers from it.",
    responses: describeDocument(asyncApiDocumentSchema),
  },
  {
    ...shared,
    path: "/openapi.full.json",
    operationId: "getFullOpenApi",
    tag: "API documents",
    audience: "operator",
    scope: "admin",
    summary: "Download the full OpenAPI document",
    description: "Returns the OpenAPI 3.1 document with all operations, including the operations for operators.",
    responses: describeDocument(openApiDocumentSchema),
  },
  {
    ...shared,
    path: "/v1/services",
    operationId: "listServices",
    tag: "Services",
    audience: "operator",
    scope: "admin",
    summary: "Check the health of services",
    description:
      "Returns the health of the gateway and of each service: whether it accepts requests, and which of the servers it depends on respond. If several instances of a service run, one of them responds.",
    responses: { 200: { description: "The gateway and the services", schema: ServiceList } },
  },
  {
    ...shared,
    path: "/v1/services/quotas",
    operationId: "listMostUsedQuotas",
    tag: "Services",
    audience: "operator",
    scope: "admin",
    summary: "List the most used daily quotas",
    description:
      "Returns of which daily quotas of all services locations have used most today (UTC). A service that does not respond is named, and its quotas are missing.",
    responses: { 200: { description: "The most used quotas", schema: MostUsedQuotas } },
  },
];
