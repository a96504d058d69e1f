import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ErrorCode } from "@pragma/contracts/errors";
import type { Scope } from "@pragma/contracts/scopes";
import { packageFolder } from "@pragma/runtime/package-folder";

/** A JSON Schema as the document has it. */
export type Schema = Record<string, unknown>;

interface DocumentedOperation {
  operationId: string;
  tags: string[];
  description: string;
  security: unknown[];
  parameters?: { in: "path" | "query" | "header"; name: string }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>;
}

/** What the document says of the product. */
export interface ApiDocument {
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: { schemas: Record<string, Schema> };
}

/** What an operation may answer: the status of a success, or the code of an error. */
export type Outcome = `${2 | 3}${number}` | ErrorCode;

/** An operation of the API, as the document describes it. */
export interface Operation {
  id: string;
  tag: string;
  method: string;
  /** With its parameters in braces. */
  path: string;
  /** The scope that a key needs; undefined when no key is needed. */
  scope: Scope | undefined;
  pathParameters: string[];
  queryParameters: string[];
  takesBody: boolean;
  /** Of its body; that of anything if it takes none. */
  bodySchema: Schema;
  /** Whether there is nothing to do without a body. */
  needsBody: boolean;
  /** Every success and every error that is documented, with its status and the content types and schemas of its body. */
  outcomes: Map<Outcome, { status: number; content: Record<string, { schema: Schema }> }>;
}

const contracts = packageFolder(import.meta.resolve("@pragma/contracts/errors"));

/** The document that describes everything, operators' routes too. */
export const apiDocument: ApiDocument = JSON.parse(readFileSync(join(contracts, "openapi.full.json"), "utf8"));

/** Every operation of the full document, in its order. */
export const operations: Operation[] = Object.entries(apiDocument.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, documented]) => readOperation(method, path, documented)),
);

function readOperation(method: string, path: string, documented: DocumentedOperation): Operation {
  const { operationId: id, tags, description, security, parameters = [], requestBody } = documented;
  const namesOf = (part: string) => parameters.filter((each) => each.in === part).map(({ name }) => name);
  return {
    id,
    tag: tags[0] ?? "",
    method: method.toUpperCase(),
    path,
    scope: security.length > 0 ? scopeIn(description) : undefined,
    pathParameters: namesOf("path"),
    queryParameters: namesOf("query"),
    takesBody: requestBody !== undefined,
    bodySchema: requestBody?.content["application/json"]?.schema ?? {},
    needsBody: requestBody?.required === true,
    outcomes: outcomesOf(documented),
  };
}

function scopeIn(description: string): Scope {
  const [, scope] = /^Scope: `([\w:]+)`/m.exec(description) ?? [];
  if (!scope) throw new Error(`No scope is named in: ${description}`);
  return scope as Scope;
}

function outcomesOf({ responses }: DocumentedOperation): Operation["outcomes"] {
  return new Map(
    Object.entries(responses).flatMap(([status, { description, content = {} }]) => {
      const answer = { status: Number(status), content };
      if (answer.status < 400) return [[status as Outcome, answer] as const];
      return [...description.matchAll(/^`(\w+)`:/gm)].map(([, code]) => [code as Outcome, answer] as const);
    }),
  );
}
