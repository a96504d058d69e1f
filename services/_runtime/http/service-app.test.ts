import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { sleep } from "../concurrency/sleep.ts";
import type { Database } from "../database/postgres.ts";
import { defineService } from "../service/define-service.ts";
import { deprecatedTestOperation } from "../testing/deprecated-operation.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { buildTestPrincipal, startTestService, type TestService } from "../testing/test-service.ts";
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

const listRoute = defineRoute({
  ...{ method: "get", path: "/v1/items/", operationId: "listItems", tag: "Things", audience: "public" },
  ...{ scope: "tills:write", summary: "", description: "", responses: {}, errors: [] },
  request: { query: z.object({ size: z.string().regex(/^\d+$/).optional(), day: z.string().optional() }) },
  async handle({ query: { size }, header }) {
    if (header("if-none-match")) return { status: 304, body: null, headers: { etag: '"one"' } };
    return jsonResponse(200, { size: size ?? null });
  },
});

let environment: IsolatedTestEnvironment;
let service: TestService;
beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const definition = defineService({
    name: "accounts",
    module: import.meta.url,
    config: z.object({}),
    createResources: ({ db }) => ({ services: { db } }),
    routes: [countBytesRoute, deprecatedRoute, listRoute],
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

it("lets only the client store the responses of reads, and use them again only after it has asked", async () => {
  const list = await service.request("GET", "/v1/items");
  expect([list.status, list.headers.get("cache-control")]).toEqual([200, "private, no-cache"]);
  expect((await service.request("HEAD", "/v1/items")).headers.get("cache-control")).toBe("private, no-cache");
  expect((await service.request("GET", "/v1/items?size=x")).headers.get("cache-control")).toBe("no-store");
});

describe("repeated query parameters", () => {
  it.each([undefined, "handling=lenient", "handling=strict"])("are errors with the preference %s", async (prefer) => {
    const headers: Record<string, string> = prefer === undefined ? {} : { prefer };
    for (const query of ["size=3&size=4", "size=3&size=3", "size=3&%73ize=", "size=3&page=2&size=4"]) {
      const response = await service.request("GET", `/v1/items?${query}`, { headers });
      const { errors } = (await response.json()) as { errors: { path: string; code: string; message: string }[] };
      expect(response.status).toBe(400);
      expect(errors[0]).toMatchObject({ in: "query", path: "size", code: "repeated_parameter" });
      expect(errors[0]?.message).toContain("Send it once");
    }
  });

  it("are ignored and named once if the operation does not know them", async () => {
    const response = await service.request("GET", "/v1/items?size=3&page=1&page=2");
    expect([response.status, response.headers.get("x-ignored-parameters")]).toEqual([200, "page"]);
  });
});

describe("unknown query parameters", () => {
  const ignored = (response: Response) => response.headers.get("x-ignored-parameters");

  it("are ignored and named in the response, also of errors and with status 304", async () => {
    const response = await service.request("GET", "/v1/items?size=3&page=2&from=now");
    expect([response.status, await response.json(), ignored(response)]).toEqual([200, { size: "3" }, "page, from"]);
    const invalid = await service.request("GET", "/v1/items?size=x&page=2");
    expect([invalid.status, ignored(invalid)]).toEqual([400, "page"]);
    const unchanged = await service.request("GET", "/v1/items?page=2", { headers: { "if-none-match": '"one"' } });
    expect([unchanged.status, ignored(unchanged)]).toEqual([304, "page"]);
    const deprecated = await service.request("GET", "/v1/things?page=2");
    expect([deprecated.headers.get("deprecation"), ignored(deprecated)]).toEqual(["@1767225600", "page"]);
  });

  it("are named in the repeated response to an Idempotency-Key", async () => {
    const principal = buildTestPrincipal();
    const push = () =>
      service.request("POST", "/v1/things?x=1", {
        principal,
        body: Buffer.from("{}"),
        headers: { "idempotency-key": "names" },
      });
    const responses = [await push(), await push()];
    expect(responses.map(ignored)).toEqual(["x", "x"]);
    expect(responses[1]?.headers.get("idempotency-replayed")).toBe("true");
  });

  it("are errors with the preference handling=strict, together with all other issues", async () => {
    const headers = { prefer: "handling=strict" };
    const response = await service.request("GET", "/v1/items?size=x&page=2&from=now", { headers });
    const { code, errors } = (await response.json()) as { code: string; errors: { path: string }[] };
    expect([response.status, code, errors.map(({ path }) => path)]).toEqual([
      400,
      "invalid_request",
      ["size", "page", "from"],
    ]);
    expect([response.headers.get("preference-applied"), ignored(response)]).toEqual(["handling=strict", null]);
    const valid = await service.request("GET", "/v1/items?size=1", { headers });
    expect([valid.status, valid.headers.get("preference-applied")]).toEqual([200, "handling=strict"]);
    const withoutParameters = await service.request("GET", "/v1/things?size=1", { headers });
    expect(withoutParameters.status).toBe(400);
  });
});
