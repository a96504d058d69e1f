import { randomBytes, randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { problemSchema } from "@pragma/contracts/problem";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestAdminClient, createTestLocation, type TestLocation } from "./harness/test-location.ts";

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let testLocation: TestLocation;
let sql: postgres.Sql;

beforeAll(async () => {
  environment = await createMigratedTestEnvironment();
  product = await startPragmaUnderTest(environment.variables);
  testLocation = await createTestLocation(product);
  sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 1, onnotice: () => {} });
}, 300_000);
afterAll(async () => {
  await sql?.end();
  await product?.stop();
  await environment?.remove();
});

type TillInput = ReturnType<typeof generateTill>;

const createTill = (changes: object = {}): TillInput => ({
  ...generateTill({ seed: 7, orders: 4, day: "2026-05-29", tillId: randomUUID() }),
  ...changes,
});

/** Returns a till with these changes to its first order. */
function createTillWithOrder(changes: object): TillInput {
  const till = createTill();
  return {
    ...till,
    orderList: till.orderList.map((order, index) => (index === 0 ? { ...order, ...changes } : order)),
  };
}

const withoutField = (name: string, from: object) =>
  Object.fromEntries(Object.entries(from).filter(([key]) => key !== name));

async function expectProblem(response: Response, status: number, code: string) {
  const text = await response.text();
  expect({ status: response.status, type: response.headers.get("content-type"), text }).toMatchObject({
    status,
    type: "application/problem+json",
  });
  const problem = problemSchema.parse(JSON.parse(text));
  expect(problem).toMatchObject({ status, code, requestId: response.headers.get("x-request-id") });
  expect(problem.type).toMatch(new RegExp(`#${code}$`));
  return problem;
}

/** Returns the number of tills in the database and the number of objects in the object store. */
async function countStoredTills() {
  const [row] =
    await sql`select count(*)::int as n from ${sql(buildServiceSchemaName(environment.namespace, "till-ingest"))}.tills`;
  const folder = (environment.variables.OBJECT_STORE ?? "").replace("file:", "");
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return { tills: row?.n, objects: entries.filter((entry) => entry.isFile()).length };
}

/** Pushes a body, checks that it is rejected and that no data is stored, and returns the problem. */
async function expectRejected(body: unknown, status: number, code: string, headers: Record<string, string> = {}) {
  const before = await countStoredTills();
  const problem = await expectProblem(
    await testLocation.request("POST", "/v2/tills/", { body, headers }),
    status,
    code,
  );
  expect(await countStoredTills()).toEqual(before);
  return problem;
}

describe("API keys", () => {
  it("returns 401 without a key, with a www-authenticate header", async () => {
    const response = await testLocation.request("GET", "/v2/reports/", { key: null });
    expect(response.headers.get("www-authenticate")).toMatch(/^Bearer/);
    await expectProblem(response, 401, "key_missing");
  });

  it.each([
    ["a key that was never created", `pragma_${"a".repeat(49)}`],
    [
      "a key with a changed letter",
      () => `${testLocation.key.slice(0, -1)}${testLocation.key.endsWith("a") ? "b" : "a"}`,
    ],
    ["any other text", "hello"],
  ])("returns 401 for %s", async (_, key) => {
    const credential = typeof key === "function" ? key() : key;
    await expectProblem(await testLocation.request("GET", "/v2/reports/", { key: credential }), 401, "key_invalid");
  });

  it("returns 401 for a revoked key within a second", async () => {
    const other = await createTestLocation(product);
    expect((await other.request("GET", "/v2/reports/")).status).toBe(200);
    const admin = createTestAdminClient(product);
    const query = { locationId: other.locationId };
    for await (const { id } of admin.items("/v1/auth/keys", { params: { query } }))
      await admin.DELETE("/v1/auth/keys/{id}", { params: { path: { id } } });
    const response = await eventually(
      "the key to be rejected",
      async () => {
        const last = await other.request("GET", "/v2/reports/");
        return last.status === 401 && last;
      },
      { timeoutSeconds: 1 },
    );
    await expectProblem(response, 401, "key_revoked");
  });

  it("returns 403 with the name of the missing scope", async () => {
    const reader = await createTestLocation(product, { scopes: ["reports:read"] });
    const before = await countStoredTills();
    const problem = await expectProblem(
      await reader.request("POST", "/v2/tills/", { body: createTill() }),
      403,
      "scope_missing",
    );
    expect(problem.detail).toContain("tills:write");
    expect(await countStoredTills()).toEqual(before);
  });

  it("hides the tills and reports of a location from keys of other locations, and rejects their pushes", async () => {
    const ownTill = createTill();
    expect((await testLocation.request("POST", "/v2/tills/", { body: ownTill })).status).toBe(201);
    const [report] = await testLocation.waitForReports(1);
    const otherLocation = await createTestLocation(product);
    const before = await countStoredTills();
    const foreignPath = `/v2/tills/?locationId=${testLocation.locationId}`;
    await expectProblem(
      await otherLocation.request("POST", foreignPath, { body: createTill() }),
      403,
      "location_forbidden",
    );
    await expectProblem(await otherLocation.request("POST", "/v2/tills/", { body: ownTill }), 409, "till_conflict");
    await expectProblem(await otherLocation.request("GET", `/v2/reports/${report?.id}`), 404, "report_not_found");
    await expectProblem(await otherLocation.request("GET", `/v1/reports/${report?.id}`), 404, "report_not_found");
    await expectProblem(await otherLocation.request("GET", `/v1/tills/${ownTill.id}`), 404, "till_not_found");
    await expectProblem(await otherLocation.request("GET", `/v1/tills/${ownTill.id}/object`), 404, "till_not_found");
    expect(await countStoredTills()).toEqual(before);
  });

  it("ignores a principal header from a client", async () => {
    const headers = { "x-pragma-principal": Buffer.from(JSON.stringify({ scopes: ["admin"] })).toString("base64url") };
    await expectProblem(await testLocation.request("GET", "/v1/locations/", { headers }), 403, "scope_missing");
    await expectProblem(await testLocation.request("GET", "/internal/keys/x", { headers }), 404, "route_not_found");
  });
});

describe("bodies that cannot be read", () => {
  it("returns the position of a JSON error", async () => {
    const problem = await expectRejected('{\n  "id": "x",\n  "note": oops\n}', 400, "malformed_json");
    expect(problem.detail).toMatch(/position 25 \(line 3, column 11\)/);
  });

  it("rejects an empty body", () => expectRejected("", 400, "malformed_json"));
  it("rejects text that is not UTF-8", () => expectRejected(new Uint8Array([0x7b, 0xff, 0x7d]), 400, "malformed_json"));
  it("rejects a list", () => expectRejected("[]", 400, "invalid_request"));
  it("rejects another content type", () =>
    expectRejected("id=1", 415, "unsupported_media_type", { "content-type": "application/x-www-form-urlencoded" }));
  it("rejects another content encoding", () =>
    expectRejected(createTill(), 415, "unsupported_encoding", { "content-encoding": "br" }));

  it("rejects 51 MB with and without a content length", async () => {
    const large = Buffer.alloc(51 * 1024 * 1024, 0x20);
    await expectRejected(large, 413, "body_too_large");
    const before = await countStoredTills();
    const chunked = await fetch(`${product.url}/v2/tills/`, {
      method: "POST",
      headers: { authorization: `Bearer ${testLocation.key}`, "content-type": "application/json" },
      body: new Blob([large]).stream(),
      duplex: "half",
    } as RequestInit);
    await expectProblem(chunked, 413, "body_too_large");
    expect(await countStoredTills()).toEqual(before);
  });

  it("rejects a small body that decompresses to a huge body", async () => {
    const compressed = gzipSync(Buffer.alloc(100 * 1024 * 1024, 0x20));
    expect(compressed.byteLength).toBeLessThan(1024 * 1024);
    await expectRejected(compressed, 413, "body_too_large", { "content-encoding": "gzip" });
  });

  it("rejects truncated and invalid gzip", async () => {
    const till = gzipSync(JSON.stringify(createTill()));
    await expectRejected(till.subarray(0, till.byteLength - 20), 400, "malformed_body", {
      "content-encoding": "gzip",
    });
    await expectRejected(randomBytes(2000), 400, "malformed_body", { "content-encoding": "gzip" });
  });

  it("accepts gzip, and stores the decompressed body", async () => {
    const text = JSON.stringify(createTill());
    const response = await testLocation.request("POST", "/v2/tills/", {
      body: gzipSync(text),
      headers: { "content-encoding": "gzip" },
    });
    expect(response.status).toBe(201);
    const { tillId } = (await response.json()) as { tillId: string };
    expect(await (await testLocation.request("GET", `/v1/tills/${tillId}/object`)).text()).toBe(text);
  });
});

describe("invalid tills", () => {
  it.each<[string, () => unknown, string, string]>([
    ["a missing field", () => withoutField("startedAt", createTill()), "startedAt", "required"],
    [
      "a wrong enumeration",
      () => createTillWithOrder({ serviceType: "dinein" }),
      "orderList[0].serviceType",
      "invalid_value",
    ],
    ["a negative guest count", () => createTillWithOrder({ guestsCount: -1 }), "orderList[0].guestsCount", "too_small"],
    [
      "a date that does not exist",
      () => createTill({ startedAt: "2026-02-30T10:00:00Z" }),
      "startedAt",
      "invalid_format",
    ],
    ["a date without an offset", () => createTill({ startedAt: "2026-02-20T10:00:00" }), "startedAt", "invalid_format"],
    ["an id that is not a UUID", () => createTill({ id: "s123" }), "id", "invalid_format"],
    ["a fraction of a cent", () => createTillWithOrder({ total: 12.5 }), "orderList[0].total", "invalid_type"],
    ["a report number of 0", () => createTill({ reportNumber: 0 }), "reportNumber", "too_small"],
  ])("are rejected for %s", async (_, body, path, code) => {
    const problem = await expectRejected(body(), 400, "invalid_request");
    expect(problem.errors).toEqual([{ in: "body", path, code, message: expect.stringMatching(/\w+/) }]);
  });

  it("are rejected with all of 40 issues", async () => {
    const till = generateTill({ seed: 8, orders: 40, day: "2026-05-29", tillId: randomUUID() });
    const invalidTill = { ...till, orderList: till.orderList.map((order) => ({ ...order, guestsCount: -1 })) };
    const problem = await expectRejected(invalidTill, 400, "invalid_request");
    expect(problem.errors).toHaveLength(40);
    expect(problem.detail).toContain("40 issues");
  });

  it("are rejected with the first 100 issues and their total number", async () => {
    const till = generateTill({ seed: 8, orders: 150, day: "2026-05-29", tillId: randomUUID() });
    const invalidTill = { ...till, orderList: till.orderList.map((order) => ({ ...order, guestsCount: -1 })) };
    const problem = await expectRejected(invalidTill, 400, "invalid_request");
    expect(problem.errors).toHaveLength(100);
    expect(problem.detail).toContain("150 issues");
  });

  it("are rejected for a duplicate order", async () => {
    const till = createTill();
    const problem = await expectRejected(
      { ...till, orderList: [...till.orderList, till.orderList[0]] },
      400,
      "invalid_request",
    );
    expect(problem.errors).toEqual([expect.objectContaining({ path: expect.stringMatching(/^orderList\[4\]/) })]);
  });

  it("are rejected with the issues of the query and the body together", async () => {
    const response = await testLocation.request("POST", "/v2/tills/?locationId=7", {
      body: createTill({ reportNumber: 0 }),
    });
    const problem = await expectProblem(response, 400, "invalid_request");
    expect(problem.errors?.map((issue) => [issue.in, issue.path])).toEqual([
      ["query", "locationId"],
      ["body", "reportNumber"],
    ]);
  });

  it("return the same response for a repeated push, and 409 for other content with the same id", async () => {
    const till = createTill();
    const first = await testLocation.request("POST", "/v2/tills/", { body: till });
    const again = await testLocation.request("POST", "/v2/tills/", { body: till });
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(await again.text()).toBe(await first.text());
    const before = await countStoredTills();
    await expectProblem(
      await testLocation.request("POST", "/v2/tills/", { body: { ...till, note: "other" } }),
      409,
      "till_conflict",
    );
    expect((await countStoredTills()).tills).toBe(before.tills);
  });
});

describe("paths and queries", () => {
  it.each([
    ["GET", "/"],
    ["GET", "/v3/reports/"],
    ["GET", "/v2/reportsx"],
    ["GET", "/v2/reports/a/b"],
    ["GET", "/%"],
  ])("returns 404 for %s %s", async (method, path) => {
    await expectProblem(await testLocation.request(method, path), 404, "route_not_found");
  });

  it.each([
    ["DELETE", "/v2/reports/", "GET, HEAD"],
    ["GET", "/v2/tills/", "POST"],
    ["PATCH", `/v1/tills/${randomUUID()}/object`, "GET, HEAD"],
  ])("returns 405 for %s %s with the allowed methods", async (method, path, allowed) => {
    const response = await testLocation.request(method, path);
    expect(response.headers.get("allow")).toContain(allowed);
    await expectProblem(response, 405, "method_not_allowed");
  });

  it.each([
    ["index=-1", "index"],
    ["size=101", "size"],
    ["since=2026-02-30", "since"],
    ["until=2026-04-31", "until"],
    ["since=0000-01-01", "since"],
  ])("returns 400 for %s", async (query, path) => {
    for (const list of ["/v2/reports/", "/v1/reports/", "/v1/orders/"]) {
      const problem = await expectProblem(
        await testLocation.request("GET", `${list}?${query}`),
        400,
        "invalid_request",
      );
      expect(problem.errors).toEqual([expect.objectContaining({ in: "query", path })]);
    }
  });

  it("returns an empty page far past the end, and 400 for an invalid page token", async () => {
    expect((await testLocation.request("GET", "/v2/reports/?index=999999999999&size=100")).status).toBe(200);
    const token = Buffer.from(
      JSON.stringify({ day: "0000-01-01", at: "0000-01-01T00:00:00Z", id: randomUUID(), index: 1 }),
    );
    const response = await testLocation.request("GET", `/v2/reports/?pageToken=${token.toString("base64url")}`);
    await expectProblem(response, 400, "invalid_page_token");
  });

  it("treats February 29 of any year as the last day of the month", async () => {
    expect((await testLocation.request("GET", "/v2/reports/?since=2026-02-29")).status).toBe(200);
  });

  it("returns 400 for an id that is not a UUID", async () => {
    await expectProblem(await testLocation.request("GET", "/v2/reports/7"), 400, "invalid_request");
  });
});
