import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ErrorCode } from "@pragma/contracts/errors";
import type { Scope } from "@pragma/contracts/scopes";
import { findPackageFolder } from "@pragma/runtime/process/package-folder";

/** A JSON Schema as the document has it. */
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

/** What the document says of the product. */
export interface OpenApiDocument {
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: { schemas: Record<string, JsonSchema> };
}

/** What an operation may answer: the status of a success, or the code of an error. */
export type OperationOutcome = `${2 | 3}${number}` | ErrorCode;

/** An operation of the API, as the document describes it. */
export interface ApiOperation {
  id: string;
  tag: string;
  method: string;
  /** With its parameters in braces. */
  path: string;
  /** The scope that a key needs; undefined when no key is needed. */
  scope: Scope | undefined;
  pathParameters: string[];
  queryParameters: string[];
  acceptsBody: boolean;
  /** Of its body; that of anything if it takes none. */
  bodySchema: JsonSchema;
  /** Whether there is nothing to do without a body. */
  requiresBody: boolean;
  /** Every success and every error that is documented, with its status and the content types and schemas of its body. */
  outcomes: Map<OperationOutcome, { status: number; content: Record<string, { schema: JsonSchema }> }>;
}

const contractsFolder = findPackageFolder(import.meta.resolve("@pragma/contracts/errors"));

/** The document that describes everything, operators' routes too. */
export const fullOpenApiDocument: OpenApiDocument = JSON.parse(
  readFileSync(join(contractsFolder, "openapi.full.json"), "utf8"),
);

/** Every operation of the full document, in its order. */
export const apiOperations: ApiOperation[] = Object.entries(fullOpenApiDocument.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, documented]) => readOperation(method, path, documented)),
);

function readOperation(method: string, path: string, documented: OpenApiOperation): ApiOperation {
  const { operationId: id, tags, description, security, parameters = [], requestBody } = documented;
  const namesOf = (part: string) => parameters.filter((each) => each.in === part).map(({ name }) => name);
  return {
    id,
    tag: tags[0] ?? "",
    method: method.toUpperCase(),
    path,
    scope: security.length > 0 ? parseScope(description) : undefined,
    pathParameters: namesOf("path"),
    queryParameters: namesOf("query"),
    acceptsBody: requestBody !== undefined,
    bodySchema: requestBody?.content["application/json"]?.schema ?? {},
    requiresBody: requestBody?.required === true,
    outcomes: readOutcomes(documented),
  };
}

function parseScope(description: string): Scope {
  const [, scope] = /^Scope: `([\w:]+)`/m.exec(description) ?? [];
  if (!scope) throw new Error(`No scope is named in: ${description}`);
  return scope as Scope;
}

function readOutcomes({ responses }: OpenApiOperation): ApiOperation["outcomes"] {
  return new Map(
    Object.entries(responses).flatMap(([status, { description, content = {} }]) => {
      const answer = { status: Number(status), content };
      if (answer.status < 400) return [[status as OperationOutcome, answer] as const];
      return [...description.matchAll(/^`(\w+)`:/gm)].map(([, code]) => [code as OperationOutcome, answer] as const);
    }),
  );
}
