import type { ApiOperationDefinition } from "@pragma/runtime/http/define-route";
import { deprecatedTestOperation } from "@pragma/runtime/testing/deprecated-operation";
import { expect, it } from "vitest";
import { z } from "zod";
import { createOpenApiDocument } from "./openapi-document.ts";

const options = { info: { title: "Test", version: "1", description: "" }, servers: [], tags: [] };
const createTestDocument = (...operations: ApiOperationDefinition[]) =>
  createOpenApiDocument(operations, { ...options, audiences: ["public"] });

it("states when a deprecated operation may be removed, and its successor", () => {
  const operation = createTestDocument(deprecatedTestOperation).paths?.["/v1/things"]?.get;
  expect(operation?.deprecated).toBe(true);
  expect(operation?.description).toContain("may be removed on or after 2027-01-01. Use `/v2/things/` instead.");
});

it("rejects two operations with the same method and path, or the same id", () => {
  expect(() =>
    createTestDocument(deprecatedTestOperation, { ...deprecatedTestOperation, operationId: "other" }),
  ).toThrow("have the same get /v1/things");
  expect(() => createTestDocument(deprecatedTestOperation, { ...deprecatedTestOperation, method: "put" })).toThrow(
    "have the same operation listThings",
  );
});

it("describes a nullable enumeration as the enumeration or null", () => {
  const kind = z.enum(["cash", "card"]);
  const schema = z.object({
    kind: kind.nullable().default(null).meta({ description: "The kind" }),
    kinds: z.array(kind.nullable()),
    // A property with the name of a keyword.
    enum: kind.nullable(),
    example: z.object({ enum: kind.nullish() }),
    required: kind,
  });
  const responses = { 200: { description: "Things", schema, example: { enum: ["x", null] } } };
  const document = createTestDocument({ ...deprecatedTestOperation, responses });
  const enumeration = { type: "string", enum: ["cash", "card"] };
  const orNull = { anyOf: [enumeration, { type: "null" }] };
  const { content } = document.paths?.["/v1/things"]?.get?.responses?.[200] ?? {};
  expect(content?.["application/json"]?.schema.properties).toEqual({
    kind: { ...orNull, default: null, description: "The kind" },
    kinds: { type: "array", items: orNull },
    enum: orNull,
    example: { type: "object", properties: { enum: orNull } },
    required: enumeration,
  });
  expect(content?.["application/json"].example).toEqual({ enum: ["x", null] });
});
