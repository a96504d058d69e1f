import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { routesOf } from "./define-route.ts";
import { defineService } from "./define-service.ts";
import type { Database } from "./postgres.ts";
import { json } from "./reply.ts";
import { sleep } from "./sleep.ts";
import { createTestEnvironment, type TestEnvironment } from "./testing/test-environment.ts";
import { startTestService, type TestService } from "./testing/test-service.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

let lastBytes: WeakRef<Uint8Array> | undefined;
const countBytes = routesOf<{ db: Database }>()({
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
      limit: 10_000_000,
      async read(bytes) {
        lastBytes = new WeakRef(bytes);
        return { value: bytes.byteLength };
      },
    },
  },
  responses: {},
  errors: [],
  async handle({ body }) {
    // What a WeakRef was made of lives until the present turn of the event loop is over.
    await sleep(10);
    collectGarbage();
    return json(200, { bytes: body, isHeld: lastBytes?.deref() !== undefined });
  },
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
    routes: [countBytes],
  });
  service = await startTestService(definition, environment);
});
afterAll(async () => {
  await service.stop();
  await environment.remove();
});

it.each([undefined, "one"])("holds a body no longer than it is read, with the Idempotency-Key %s", async (key) => {
  // Inflated here, so that no client of this process holds the bytes.
  const reply = await service.ask("POST", "/v1/things", {
    body: gzipSync("x".repeat(2_000_000)),
    headers: { "content-encoding": "gzip", ...(key && { "idempotency-key": key }) },
  });
  expect(await reply.json()).toEqual({ bytes: 2_000_000, isHeld: false });
});
