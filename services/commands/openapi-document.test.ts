import type { ApiOperationDefinition } from "@pragma/runtime/http/define-route";
import { deprecatedTestOperation } from "@pragma/runtime/testing/deprecated-operation";
import { expect, it } from "vitest";
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
