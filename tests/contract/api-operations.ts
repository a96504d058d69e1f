import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ApiErrorCode } from "@pragma/contracts/errors";
import type { ApiScope } from "@pragma/contracts/scopes";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";

/** A JSON Schema in the OpenAPI document. */
export type JsonSchema = Record<string, unknown>;

interface OpenApiOperation {
  operationId: string;
  tags: string[];
  description: string;
  security: unknown[];
  parameters?: { in: "path" | "query" | "header"; name: string }[];
  requestBody?: { required: boolean; content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: JsonSchema }> }>;
}

/** An OpenAPI document, limited to the fields that the tests use. */
export interface OpenApiDocument {
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: { schemas: Record<string, JsonSchema> };
}

/** A documented outcome of an operation: the status of a successful response, or the code of an error. */
export type DocumentedOutcome = `${2 | 3}${number}` | ApiErrorCode;

/** An operation of the API, as the OpenAPI document describes it. */
export interface DocumentedApiOperation {
  id: string;
  tag: string;
  method: string;
  /** The path, in which parameters are placeholders in braces. */
  path: string;
  /** The scope that the API key must have; `any` for every API key; undefined if the operation requires no API key. */
  scope: ApiScope | "any" | undefined;
  pathParameters: string[];
  queryParameters: string[];
  acceptsBody: boolean;
  /** The schema of the request body; an empty schema if the operation has no request body. */
  bodySchema: JsonSchema;
  requiresBody: boolean;
  /** The documented outcomes. Each outcome has a status, and a schema for each content type of the response. */
  outcomes: Map<DocumentedOutcome, { status: number; content: Record<string, { schema: JsonSchema }> }>;
}

const contractsFolder = findEnclosingPackageFolder(import.meta.resolve("@pragma/contracts/errors"));

/** The OpenAPI document of all operations, including operations for operators. */
export const fullOpenApiDocument: OpenApiDocument = JSON.parse(
  readFileSync(join(contractsFolder, "openapi.full.json"), "utf8"),
);

/** All operations of the API, in the sequence in which the OpenAPI document lists them. */
export const apiOperations: DocumentedApiOperation[] = Object.entries(fullOpenApiDocument.paths).flatMap(
  ([path, methods]) => Object.entries(methods).map(([method, documented]) => readOperation(method, path, documented)),
);

function readOperation(method: string, path: string, documented: OpenApiOperation): DocumentedApiOperation {
  const { operationId: id, tags, description, security, parameters = [], requestBody } = documented;
  const parameterNames = (part: string) => parameters.filter((each) => each.in === part).map(({ name }) => name);
  return {
    id,
    tag: tags[0] ?? "",
    method: method.toUpperCase(),
    path,
    scope: security.length > 0 ? parseScope(description) : undefined,
    pathParameters: parameterNames("path"),
    queryParameters: parameterNames("query"),
    acceptsBody: requestBody !== undefined,
    bodySchema: requestBody?.content["application/json"]?.schema ?? {},
    requiresBody: requestBody?.required === true,
    outcomes: readOutcomes(documented),
  };
}

function parseScope(description: string): ApiScope | "any" {
  if (description.endsWith("No scope is required: every API key can use this operation.")) return "any";
  const [, scope] = /^Scope: `([\w:]+)`/m.exec(description) ?? [];
  if (!scope) throw new Error(`No scope in: ${description}`);
  return scope as ApiScope;
}

function readOutcomes({ responses }: OpenApiOperation): DocumentedApiOperation["outcomes"] {
  return new Map(
    Object.entries(responses).flatMap(([status, { description, content = {} }]) => {
      const response = { status: Number(status), content };
      if (response.status < 400) return [[status as DocumentedOutcome, response] as const];
      return [...description.matchAll(/^`(\w+)`:/gm)].map(([, code]) => [code as DocumentedOutcome, response] as const);
    }),
  );
}
