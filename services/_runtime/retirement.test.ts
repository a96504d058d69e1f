import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { routesOf } from "./define-route.ts";
import { defineService } from "./define-service.ts";
import type { Database } from "./postgres.ts";
import { json } from "./reply.ts";
import { createTestEnvironment, type TestEnvironment } from "./testing/test-environment.ts";
import { startTestService, type TestService } from "./testing/test-service.ts";

const retired = routesOf<{ db: Database }>()({
  method: "get",
  path: "/v1/things/",
  operationId: "listThings",
  tag: "Things",
  audience: "public",
  scope: "tills:read",
  summary: "List things",
  description: "Things.",
  retirement: { deprecated: "2026-01-01", sunset: "2027-01-01", successor: "/v2/things/" },
  responses: { 200: { description: "Things", schema: z.array(z.string()) } },
  errors: [],
  handle: async () => json(200, []),
});

let environment: TestEnvironment;
let service: TestService;
beforeAll(async () => {
  environment = await createTestEnvironment();
  const definition = defineService({
    name: "accounts",
    module: import.meta.url,
    config: z.object({}),
    open: ({ db }) => ({ services: { db } }),
    routes: [retired],
  });
  service = await startTestService(definition, environment);
});
afterAll(async () => {
  await service.stop();
  await environment.remove();
});

it("is said in every reply of the route", async () => {
  const { headers, status } = await service.ask("GET", "/v1/things");
  expect(status).toBe(200);
  expect(headers.get("deprecation")).toBe("@1767225600");
  expect(headers.get("sunset")).toBe("Fri, 01 Jan 2027 00:00:00 GMT");
  expect(headers.get("link")).toBe('</v2/things/>; rel="successor-version"');
});
