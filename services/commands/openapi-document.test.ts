import type { OperationDefinition } from "@pragma/runtime/http/define-route";
import { expect, it } from "vitest";
import { z } from "zod";
import { createOpenApiDocument } from "./openapi-document.ts";

const deprecatedOperation: OperationDefinition = {
  method: "get",
  path: "/v1/things/",
  operationId: "listThings",
  tag: "Things",
  audience: "public",
  scope: "tills:read",
  summary: "List things",
  description: "Things.",
  deprecation: { deprecated: "2026-01-01", sunset: "2027-01-01", successor: "/v2/things/" },
  responses: { 200: { description: "Things", schema: z.array(z.string()) } },
  errors: [],
};
const options = { info: { title: "Test", version: "1", description: "" }, servers: [], tags: [] };
const createTestDocument = (...operations: OperationDefinition[]) =>
  createOpenApiDocument(operations, { ...options, audiences: ["public"] });

it("states when a deprecated operation may be removed, and its successor", () => {
  const operation = createTestDocument(deprecatedOperation).paths?.["/v1/things"]?.get;
  expect(operation?.deprecated).toBe(true);
  expect(operation?.description).toContain("may be removed on or after 2027-01-01. Use `/v2/things/` instead.");
});

it("rejects two operations with the same method and path, or the same id", () => {
  expect(() => createTestDocument(deprecatedOperation, { ...deprecatedOperation, operationId: "other" })).toThrow(
    "have the same get /v1/things",
  );
  expect(() => createTestDocument(deprecatedOperation, { ...deprecatedOperation, method: "put" })).toThrow(
    "have the same operation listThings",
  );
});
