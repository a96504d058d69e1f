import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { sleep } from "../concurrency/sleep.ts";
import type { Database } from "../database/postgres.ts";
import { defineService } from "../service/define-service.ts";
import { deprecatedTestOperation } from "../testing/deprecated-operation.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { startTestService, type TestService } from "../testing/test-service.ts";
import { createRouteDefiner } from "./define-route.ts";
import { jsonResponse } from "./route-response.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const defineRoute = createRouteDefiner<{ db: Database }>();

let lastBodyBytes: WeakRef<Uint8Array> | undefined;
const countBytesRoute = defineRoute({
  method: "post",
  path: "/v1/things/",
  operationId: "countBytes",
  tag: "Things",
  audience: "public",
  scope: "tills:write",
  summary: "",
  description: "",
  request: {
    body: {
      schema: z.unknown(),
      maxBytes: 10_000_000,
      async parse(bytes) {
        lastBodyBytes = new WeakRef(bytes);
        return { value: bytes.byteLength };
      },
    },
  },
  responses: {},
  errors: [],
  async handle({ body }) {
    // Waits, because a new WeakRef prevents the collection of its target until the current event loop iteration ends.
    await sleep(10);
    collectGarbage();
    return jsonResponse(200, { bytes: body, isHeld: lastBodyBytes?.deref() !== undefined });
  },
});

const deprecatedRoute = defineRoute({ ...deprecatedTestOperation, handle: async () => jsonResponse(200, []) });

let environment: IsolatedTestEnvironment;
let service: TestService;
beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const definition = defineService({
    name: "accounts",
    module: import.meta.url,
    config: z.object({}),
    createResources: ({ db }) => ({ services: { db } }),
    routes: [countBytesRoute, deprecatedRoute],
  });
  service = await startTestService(definition, environment);
});
afterAll(async () => {
  await service.stop();
  await environment.remove();
});

it.each([undefined, "one"])("frees a body once it is parsed, with the Idempotency-Key %s", async (key) => {
  // The body is compressed, so that the client, which runs in this process, has no reference to the uncompressed bytes.
  const response = await service.request("POST", "/v1/things", {
    body: gzipSync("x".repeat(2_000_000)),
    headers: { "content-encoding": "gzip", ...(key && { "idempotency-key": key }) },
  });
  expect(await response.json()).toEqual({ bytes: 2_000_000, isHeld: false });
});

it("sends Deprecation, Sunset and Link headers in responses of a deprecated route", async () => {
  const { headers, status } = await service.request("GET", "/v1/things");
  expect(status).toBe(200);
  expect(headers.get("deprecation")).toBe("@1767225600");
  expect(headers.get("sunset")).toBe("Fri, 01 Jan 2027 00:00:00 GMT");
  expect(headers.get("link")).toBe('</v2/things/>; rel="successor-version"');
});
