import { randomBytes, randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { problemSchema } from "@pragma/contracts/errors";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ProductUnderTest, startProductUnderTest } from "./harness/product-under-test.ts";
import { createTestAdminClient, createTestLocation, type TestLocation } from "./harness/test-location.ts";

let environment: TestEnvironment;
let product: ProductUnderTest;
let shop: TestLocation;
let sql: postgres.Sql;

beforeAll(async () => {
  environment = await createTestEnvironment();
  product = await startProductUnderTest(environment.variables);
  shop = await createTestLocation(product);
  sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 1, onnotice: () => {} });
}, 120_000);
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

/** A till whose first order is changed. */
function createTillWithOrder(changes: object): TillInput {
  const whole = createTill();
  return {
    ...whole,
    orderList: whole.orderList.map((order, index) => (index === 0 ? { ...order, ...changes } : order)),
  };
}

const withoutField = (name: string, from: object) =>
  Object.fromEntries(Object.entries(from).filter(([key]) => key !== name));

async function expectProblem(answer: Response, status: number, code: string) {
  const text = await answer.text();
  expect({ status: answer.status, type: answer.headers.get("content-type"), text }).toMatchObject({
    status,
    type: "application/problem+json",
  });
  const problem = problemSchema.parse(JSON.parse(text));
  expect(problem).toMatchObject({ status, code, requestId: answer.headers.get("x-request-id") });
  expect(problem.type).toMatch(new RegExp(`#${code}$`));
  return problem;
}

/** How much is stored: tills, and objects of any kind. */
async function countStoredTills() {
  const [row] =
    await sql`select count(*)::int as n from ${sql(buildServiceSchemaName(environment.namespace, "till-ingest"))}.tills`;
  const folder = (environment.variables.OBJECT_STORE ?? "").replace("file:", "");
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return { tills: row?.n, objects: entries.filter((entry) => entry.isFile()).length };
}

/** Pushes what is not to be accepted, and sees that it was not kept. */
async function expectRefused(body: unknown, status: number, code: string, headers: Record<string, string> = {}) {
  const before = await countStoredTills();
  const problem = await expectProblem(await shop.request("POST", "/v2/tills/", { body, headers }), status, code);
  expect(await countStoredTills()).toEqual(before);
  return problem;
}

describe("keys", () => {
  it("answers 401 without a key, and says how to send one", async () => {
    const answer = await shop.request("GET", "/v2/reports/", { key: null });
    expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/);
    await expectProblem(answer, 401, "key_missing");
  });

  it.each([
    ["one that was never made", `pragma_${"a".repeat(49)}`],
    ["one with a letter changed", () => `${shop.key.slice(0, -1)}${shop.key.endsWith("a") ? "b" : "a"}`],
    ["any text", "hello"],
  ])("answers 401 to %s", async (_, key) => {
    const credential = typeof key === "function" ? key() : key;
    await expectProblem(await shop.request("GET", "/v2/reports/", { key: credential }), 401, "key_invalid");
  });

  it("answers 401 to a key that was revoked, within a second", async () => {
    const other = await createTestLocation(product);
    expect((await other.request("GET", "/v2/reports/")).status).toBe(200);
    const admin = createTestAdminClient(product);
    const query = { locationId: other.locationId };
    for await (const { id } of admin.items("/v1/auth/keys", { params: { query } }))
      await admin.DELETE("/v1/auth/keys/{id}", { params: { path: { id } } });
    const answer = await eventually(
      "the key to be refused",
      async () => {
        const last = await other.request("GET", "/v2/reports/");
        return last.status === 401 && last;
      },
      { timeoutSeconds: 1 },
    );
    await expectProblem(answer, 401, "key_revoked");
  });

  it("answers 403 when the scope is missing, naming it", async () => {
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

  it("lets a key of another location push nothing, and find nothing", async () => {
    const mine = createTill();
    expect((await shop.request("POST", "/v2/tills/", { body: mine })).status).toBe(201);
    const [report] = await shop.waitForReports(1);
    const stranger = await createTestLocation(product);
    const before = await countStoredTills();
    const elsewhere = `/v2/tills/?locationId=${shop.locationId}`;
    await expectProblem(await stranger.request("POST", elsewhere, { body: createTill() }), 403, "location_forbidden");
    await expectProblem(await stranger.request("POST", "/v2/tills/", { body: mine }), 409, "till_conflict");
    await expectProblem(await stranger.request("GET", `/v2/reports/${report?.id}`), 404, "report_not_found");
    await expectProblem(await stranger.request("GET", `/v1/reports/${report?.id}`), 404, "report_not_found");
    await expectProblem(await stranger.request("GET", `/v1/tills/${mine.id}`), 404, "till_not_found");
    await expectProblem(await stranger.request("GET", `/v1/tills/${mine.id}/object`), 404, "till_not_found");
    expect(await countStoredTills()).toEqual(before);
  });

  it("believes no principal that a client makes up", async () => {
    const headers = { "x-pragma-principal": Buffer.from(JSON.stringify({ scopes: ["admin"] })).toString("base64url") };
    await expectProblem(await shop.request("GET", "/v1/locations/", { headers }), 403, "scope_missing");
    await expectProblem(await shop.request("GET", "/internal/keys/x", { headers }), 404, "route_not_found");
  });
});

describe("bodies that cannot be read", () => {
  it("says where JSON breaks", async () => {
    const problem = await expectRefused('{\n  "id": "x",\n  "note": oops\n}', 400, "malformed_json");
    expect(problem.detail).toMatch(/position 25 \(line 3, column 11\)/);
  });

  it("refuses an empty body", () => expectRefused("", 400, "malformed_json"));
  it("refuses text that is not UTF-8", () => expectRefused(new Uint8Array([0x7b, 0xff, 0x7d]), 400, "malformed_json"));
  it("refuses a list", () => expectRefused("[]", 400, "invalid_request"));
  it("refuses another content type", () =>
    expectRefused("id=1", 415, "unsupported_media_type", { "content-type": "application/x-www-form-urlencoded" }));
  it("refuses another content encoding", () =>
    expectRefused(createTill(), 415, "unsupported_encoding", { "content-encoding": "br" }));

  it("refuses 51 MB, whether the length is announced or not", async () => {
    const large = Buffer.alloc(51 * 1024 * 1024, 0x20);
    await expectRefused(large, 413, "body_too_large");
    const before = await countStoredTills();
    const chunked = await fetch(`${product.url}/v2/tills/`, {
      method: "POST",
      headers: { authorization: `Bearer ${shop.key}`, "content-type": "application/json" },
      body: new Blob([large]).stream(),
      duplex: "half",
    } as RequestInit);
    await expectProblem(chunked, 413, "body_too_large");
    expect(await countStoredTills()).toEqual(before);
  });

  it("refuses a small body that inflates to a huge one", async () => {
    const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024, 0x20));
    expect(bomb.byteLength).toBeLessThan(1024 * 1024);
    await expectRefused(bomb, 413, "body_too_large", { "content-encoding": "gzip" });
  });

  it("refuses gzip that is cut short, or is none", async () => {
    const whole = gzipSync(JSON.stringify(createTill()));
    await expectRefused(whole.subarray(0, whole.byteLength - 20), 400, "malformed_body", {
      "content-encoding": "gzip",
    });
    await expectRefused(randomBytes(2000), 400, "malformed_body", { "content-encoding": "gzip" });
  });

  it("accepts gzip that is whole, and keeps what was in it", async () => {
    const text = JSON.stringify(createTill());
    const answer = await shop.request("POST", "/v2/tills/", {
      body: gzipSync(text),
      headers: { "content-encoding": "gzip" },
    });
    expect(answer.status).toBe(201);
    const { tillId } = (await answer.json()) as { tillId: string };
    expect(await (await shop.request("GET", `/v1/tills/${tillId}/object`)).text()).toBe(text);
  });
});

describe("tills with faults", () => {
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
    ["an id that is no uuid", () => createTill({ id: "s123" }), "id", "invalid_format"],
    ["a fraction of a cent", () => createTillWithOrder({ total: 12.5 }), "orderList[0].total", "invalid_type"],
    ["a report number of 0", () => createTill({ reportNumber: 0 }), "reportNumber", "too_small"],
  ])("names %s", async (_, body, path, code) => {
    const problem = await expectRefused(body(), 400, "invalid_request");
    expect(problem.errors).toEqual([{ in: "body", path, code, message: expect.stringMatching(/\w+/) }]);
  });

  it("names 40 faults of one till at once", async () => {
    const whole = generateTill({ seed: 8, orders: 40, day: "2026-05-29", tillId: randomUUID() });
    const faulty = { ...whole, orderList: whole.orderList.map((order) => ({ ...order, guestsCount: -1 })) };
    const problem = await expectRefused(faulty, 400, "invalid_request");
    expect(problem.errors).toHaveLength(40);
    expect(problem.detail).toContain("40 issues");
  });

  it("names 100 faults at most, and says how many there are", async () => {
    const whole = generateTill({ seed: 8, orders: 150, day: "2026-05-29", tillId: randomUUID() });
    const faulty = { ...whole, orderList: whole.orderList.map((order) => ({ ...order, guestsCount: -1 })) };
    const problem = await expectRefused(faulty, 400, "invalid_request");
    expect(problem.errors).toHaveLength(100);
    expect(problem.detail).toContain("150 issues");
  });

  it("names an order that is there twice", async () => {
    const whole = createTill();
    const problem = await expectRefused(
      { ...whole, orderList: [...whole.orderList, whole.orderList[0]] },
      400,
      "invalid_request",
    );
    expect(problem.errors).toEqual([expect.objectContaining({ path: expect.stringMatching(/^orderList\[4\]/) })]);
  });

  it("names faults of the query along with those of the body", async () => {
    const answer = await shop.request("POST", "/v2/tills/?locationId=7", { body: createTill({ reportNumber: 0 }) });
    const problem = await expectProblem(answer, 400, "invalid_request");
    expect(problem.errors?.map((fault) => [fault.in, fault.path])).toEqual([
      ["query", "locationId"],
      ["body", "reportNumber"],
    ]);
  });

  it("answers the same push again with the same reply, and other content under its id with 409", async () => {
    const whole = createTill();
    const first = await shop.request("POST", "/v2/tills/", { body: whole });
    const again = await shop.request("POST", "/v2/tills/", { body: whole });
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(await again.text()).toBe(await first.text());
    const before = await countStoredTills();
    await expectProblem(
      await shop.request("POST", "/v2/tills/", { body: { ...whole, note: "other" } }),
      409,
      "till_conflict",
    );
    expect((await countStoredTills()).tills).toBe(before.tills);
  });
});

describe("addresses and queries", () => {
  it.each([
    ["GET", "/"],
    ["GET", "/v3/reports/"],
    ["GET", "/v2/reportsx"],
    ["GET", "/v2/reports/a/b"],
    ["GET", "/%"],
  ])("answers 404 to %s %s", async (method, path) => {
    await expectProblem(await shop.request(method, path), 404, "route_not_found");
  });

  it.each([
    ["DELETE", "/v2/reports/", "GET, HEAD"],
    ["GET", "/v2/tills/", "POST"],
    ["PATCH", `/v1/tills/${randomUUID()}/object`, "GET, HEAD"],
  ])("answers 405 to %s %s, with what is allowed", async (method, path, allowed) => {
    const answer = await shop.request(method, path);
    expect(answer.headers.get("allow")).toContain(allowed);
    await expectProblem(answer, 405, "method_not_allowed");
  });

  it.each([
    ["index=-1", "index"],
    ["size=101", "size"],
    ["since=2026-02-30", "since"],
    ["until=2026-04-31", "until"],
    ["since=0000-01-01", "since"],
  ])("answers 400 to %s", async (query, path) => {
    for (const list of ["/v2/reports/", "/v1/reports/", "/v1/orders/"]) {
      const problem = await expectProblem(await shop.request("GET", `${list}?${query}`), 400, "invalid_request");
      expect(problem.errors).toEqual([expect.objectContaining({ in: "query", path })]);
    }
  });

  it("answers an empty page to one that is far past the end, and 400 to a made-up token", async () => {
    expect((await shop.request("GET", "/v2/reports/?index=999999999999&size=100")).status).toBe(200);
    const token = Buffer.from(
      JSON.stringify({ day: "0000-01-01", at: "0000-01-01T00:00:00Z", id: randomUUID(), index: 1 }),
    );
    const answer = await shop.request("GET", `/v2/reports/?pageToken=${token.toString("base64url")}`);
    await expectProblem(answer, 400, "invalid_page_token");
  });

  it("takes February 29 of any year for the month's last day", async () => {
    expect((await shop.request("GET", "/v2/reports/?since=2026-02-29")).status).toBe(200);
  });

  it("answers 400 to an id that is no uuid", async () => {
    await expectProblem(await shop.request("GET", "/v2/reports/7"), 400, "invalid_request");
  });
});
