import { OpenAPIHono } from "@hono/zod-openapi";
import { type ApiErrorCode, apiErrorDefinitions } from "@pragma/contracts/errors";
import { problemSchema } from "@pragma/contracts/problem";
import { type ApiScope, scopeDescriptions } from "@pragma/contracts/scopes";
import type { ApiOperationDefinition, RouteAudience } from "@pragma/runtime/http/define-route";
import { z } from "zod";
import { type JsonObject, mapSchemas } from "./map-schemas.ts";

export type OpenApiDocument = ReturnType<OpenAPIHono["getOpenAPI31Document"]>;

interface OpenApiDocumentOptions {
  info: { title: string; version: string; description: string };
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  audiences: RouteAudience[];
  webhooks?: WebhookDocumentation[];
}

/** A webhook message. The metadata of its body's schema contains an example. */
type WebhookDocumentation = Parameters<OpenAPIHono["openAPIRegistry"]["registerWebhook"]>[0];

const commonErrors: ApiErrorCode[] = [
  "key_missing",
  "key_invalid",
  "key_revoked",
  "key_expired",
  "scope_missing",
  "rate_limited",
  "internal_error",
  "service_unavailable",
];
/** Of operations that the gateway forwards: the service does not respond in time, or too much is waiting. */
const forwardingErrors: ApiErrorCode[] = ["overloaded", "upstream_timeout"];
const idempotencyErrors: ApiErrorCode[] = [
  "invalid_request",
  "idempotency_key_in_use",
  "idempotency_key_reused",
  "quota_exceeded",
];
const bodyErrors: ApiErrorCode[] = [
  "invalid_request",
  "malformed_json",
  "malformed_body",
  "request_timeout",
  "body_too_large",
  "unsupported_media_type",
  "unsupported_encoding",
];

const idempotencyHeaders = z.object({
  "Idempotency-Key": z.string().max(255).optional().meta({
    description:
      "Unique value of your choice, such as a UUID. If you repeat a successful request with the same value within 24 hours, the request takes effect only once, and the API returns the first response again. If the first response was not stored, because it was larger than 64 KB or exceeded the daily limit for stored responses, the API returns 204 without a body instead.",
    example: "5f0f9c0e-3a57-4a2e-8a55-7d4b7b4b1d33",
  }),
});

const conditionalRequestHeaders = z.object({
  "If-None-Match": z.string().optional().meta({
    description: "`ETag` of an earlier response. If the resource has not changed, the response is 304 and has no body.",
    example: '"8k0GvXkP2mT4qYw1Zc5uRA"',
  }),
});

const handlingPreferenceHeaders = z.object({
  Prefer: z.string().optional().meta({
    description:
      "With `handling=strict`, unknown query parameters return 400 instead of being ignored. The response then has the header `Preference-Applied`.",
    example: "handling=strict",
  }),
});

/** Returns words in camel case: `sendOrderPaid` for `send order.paid`. */
export const toOperationId = (words: string) =>
  words.replaceAll(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Returns the OpenAPI 3.1 document. @throws `Error` if two operations have the same route or the same id. */
export function createOpenApiDocument(
  operations: ApiOperationDefinition[],
  options: OpenApiDocumentOptions,
): OpenApiDocument {
  throwOnCollisions(operations);
  const app = new OpenAPIHono();
  const { openAPIRegistry: registry } = app;
  registry.registerComponent("securitySchemes", "apiKey", {
    type: "http",
    scheme: "bearer",
    description:
      "An API key for your location, sent as `Authorization: Bearer <key>`. Older integrations can send the key without `Bearer`.",
  });
  for (const route of operations.filter(({ audience }) => options.audiences.includes(audience))) {
    const { params, query, body } = route.request ?? {};
    registry.registerPath({
      method: route.method,
      // Removes the trailing slash, because OpenAPI linters reject it. The gateway accepts paths with and without it.
      path: route.path.replace(/(?<=.)\/$/, ""),
      operationId: route.operationId,
      tags: [route.tag],
      summary: route.summary,
      description: descriptionOf(route),
      ...(route.deprecation && { deprecated: true }),
      security: route.scope === null ? [] : [{ apiKey: [] }],
      request: {
        ...(params && { params }),
        ...(query && { query }),
        headers: requestHeadersOf(route),
        ...(body && {
          body: {
            required: !body.isOptional,
            content: {
              "application/json": { schema: body.schema, ...(body.example !== undefined && { example: body.example }) },
            },
          },
        }),
      },
      responses: { ...successResponsesOf(route), ...errorResponsesOf(route) },
    });
  }
  for (const webhook of options.webhooks ?? []) registry.registerWebhook(webhook);
  const { info, servers, tags } = options;
  const document = app.getOpenAPI31Document({ openapi: "3.1.0", info, servers, tags });
  return mapSchemas(document, separateNullFromEnumeration) as OpenApiDocument;
}

/**
 * Returns a nullable enumeration as `anyOf` the enumeration and null. With `null` among the values of `enum`, as zod
 * writes them, some generators of clients make a value with the name `null`, or a type without null.
 */
function separateNullFromEnumeration(schema: JsonObject): JsonObject {
  const { type, enum: values, ...rest } = schema;
  if (!Array.isArray(values) || !values.includes(null)) return schema;
  const types = [type ?? []].flat().filter((name) => name !== "null");
  const enumeration = {
    ...(types.length > 0 && { type: types.length === 1 ? types[0] : types }),
    enum: values.filter((value) => value !== null),
  };
  return { anyOf: [enumeration, { type: "null" }], ...rest };
}

function descriptionOf({ description: text, scope, deprecation }: ApiOperationDefinition): string {
  const paragraphs = [text];
  if (deprecation) {
    const successorNotice = deprecation.successor ? ` Use \`${deprecation.successor}\` instead.` : "";
    paragraphs.push(`Deprecated: this operation may be removed on or after ${deprecation.sunset}.${successorNotice}`);
  }
  return [...paragraphs, describeRequiredScope(scope)].join("\n\n");
}

function describeRequiredScope(scope: ApiOperationDefinition["scope"]): string {
  if (scope === null) return "No API key is required.";
  if (scope === "any") return "No scope is required: every API key can use this operation.";
  const meaning = scope in scopeDescriptions ? scopeDescriptions[scope as ApiScope] : "";
  const explanation = meaning && ` (${meaning.replace(/^./, (letter) => letter.toLowerCase())})`;
  return `Scope: \`${scope}\`${explanation}.`;
}

function requestHeadersOf({ method, scope, request, responses }: ApiOperationDefinition): z.ZodObject {
  return z.object({
    ...(method === "post" && scope !== null && idempotencyHeaders.shape),
    ...(responses[304] && conditionalRequestHeaders.shape),
    ...handlingPreferenceHeaders.shape,
    ...request?.headers?.shape,
  });
}

function successResponsesOf({ responses }: ApiOperationDefinition) {
  return Object.fromEntries(
    Object.entries(responses).map(
      ([status, { description, schema, example, contentType = "application/json", alternatives }]) => [
        status,
        {
          description,
          ...(schema && {
            content: { [contentType]: { schema, ...(example !== undefined && { example }) }, ...alternatives },
          }),
        },
      ],
    ),
  );
}

function errorResponsesOf({ errors, request, scope, method, isServedByGateway }: ApiOperationDefinition) {
  const hasInput = request?.params || request?.query;
  const codes = new Set<ApiErrorCode>([
    ...(method === "post" && scope !== null ? idempotencyErrors : []),
    ...(request?.body ? bodyErrors : []),
    ...(hasInput ? (["invalid_request"] as const) : []),
    ...errors,
    ...(scope === null ? [] : commonErrors.filter((code) => code !== "scope_missing" || scope !== "any")),
    ...(isServedByGateway ? [] : forwardingErrors),
  ]);
  const byStatus: Record<number, ApiErrorCode[]> = {};
  for (const code of codes) {
    const { status } = apiErrorDefinitions[code];
    byStatus[status] = [...(byStatus[status] ?? []), code];
  }
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, statusCodes]) => [
      status,
      {
        description: statusCodes.map((code) => `\`${code}\`: ${apiErrorDefinitions[code].title}.`).join("\n\n"),
        content: { "application/problem+json": { schema: problemSchema } },
      },
    ]),
  );
}

function throwOnCollisions(operations: ApiOperationDefinition[]): void {
  const operationIds = new Map<string, string>();
  for (const { method, path, operationId } of operations) {
    const route = `${method} ${path.replaceAll(/\{\w+\}/g, "{}").replace(/\/$/, "")}`;
    for (const name of [route, `operation ${operationId}`]) {
      const other = operationIds.get(name);
      if (other) throw new Error(`${operationId} and ${other} have the same ${name}.`);
      operationIds.set(name, operationId);
    }
  }
}
