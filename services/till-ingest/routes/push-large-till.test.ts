import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { problemSchema } from "@pragma/contracts/problem";
import { measureLongestEventLoopBlockMs } from "@pragma/runtime/testing/measure-event-loop-block";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestTillIngestService, type TestTillIngestService } from "../testing/start-test-till-ingest.ts";
import { buildTestOrders, buildTestTill } from "../testing/till-fixtures.ts";
import { parseTillBodyMetadata } from "../validation/parse-till-body.ts";

const mebibyte = 1024 * 1024;
let service: TestTillIngestService;
const principal = buildTestPrincipal();

beforeAll(async () => {
  service = await startTestTillIngestService();
  await push(buildTestTill({ orderList: buildTestOrders(150) }));
});
afterAll(() => service?.remove());

const push = (body: unknown, headers: Record<string, string> = {}, pushPrincipal = principal) =>
  service.request("POST", "/v2/tills/", { principal: pushPrincipal, body, headers });

describe("a till of 3,000 orders", () => {
  const till = buildTestTill({ orderList: buildTestOrders(3_000, { products: 4 }) });
  const bytes = Buffer.from(JSON.stringify(till));

  it("is stored byte for byte without blocking other requests", async () => {
    expect(bytes.byteLength).toBeGreaterThan(20 * mebibyte);
    let status = 0;
    const block = await measureLongestEventLoopBlockMs(async () => {
      ({ status } = await push(bytes));
    });
    expect(status).toBe(201);
    const started = performance.now();
    parseTillBodyMetadata(bytes, "V2");
    expect(block).toBeLessThan((performance.now() - started) / 3);
    const object = await service.request("GET", `/v1/tills/${till.id}/object`, { principal });
    expect(Buffer.from(await object.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it("returns 200 when it is pushed again with gzip", async () => {
    expect((await push(gzipSync(bytes), { "content-encoding": "gzip" })).status).toBe(200);
  });

  it("is rejected for one issue in its last order", async () => {
    const orderList = [...buildTestOrders(2_999), { ...buildTestTill().orderList[0], total: "12.00" }];
    const problem = problemSchema.parse(await (await push({ ...till, orderList })).json());
    expect(problem.errors).toMatchObject([{ path: "orderList[2999].total", code: "invalid_type" }]);
  });

  it("is rejected when it is truncated, with the position in the response", async () => {
    const problem = problemSchema.parse(await (await push(bytes.subarray(0, mebibyte))).json());
    expect(problem).toMatchObject({ code: "malformed_json", detail: expect.stringMatching(/position 104\d{4} /) });
  });
});

describe("a body that is too large", () => {
  it.each([
    ["51 MB", () => Buffer.alloc(51 * mebibyte, " "), {}],
    ["51 MB with gzip", () => gzipSync(Buffer.alloc(51 * mebibyte, " ")), { "content-encoding": "gzip" }],
  ])("of %s is rejected", async (_, body, headers) => {
    const response = await push(body(), headers as Record<string, string>);
    expect(response.status).toBe(413);
    expect(problemSchema.parse(await response.json()).code).toBe("body_too_large");
  });

  it("of gigabytes in a small gzip is rejected before it is inflated", async () => {
    const bomb = gzipSync(Buffer.alloc(1024 * mebibyte), { level: 1 });
    const before = process.memoryUsage().rss;
    const started = performance.now();
    const responses = await Promise.all(
      [1, 2, 3].map(() => push(bomb, { "content-encoding": "gzip" }, buildTestPrincipal())),
    );
    expect(responses.map(({ status }) => status)).toEqual([413, 413, 413]);
    expect(performance.now() - started).toBeLessThan(40_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(600 * mebibyte);
  });
});

describe("a body that is expensive to parse", () => {
  const emptyObjects = (size: number) => `{"orderList":[${"{},".repeat(size / 3)}{}]}`;
  const rows = `{"productRowList":[${"{},".repeat(4_999)}{}]},`;
  it.each([
    ["40 MB of empty orders", () => emptyObjects(40 * mebibyte)],
    ["40 MB of brackets", () => "[".repeat(40 * mebibyte)],
    ["40 MB of lists of numbers", () => `{"orderList":[{"productRowList":[${"0,".repeat(20 * mebibyte)}0]}]}`],
    ["orders of thousands of empty rows", () => `{"orderList":[${rows.repeat(70)}{}]}`],
    ["deep nesting", () => `{"id":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`],
    ["a string of 40 MB", () => JSON.stringify(randomBytes(20 * mebibyte).toString("hex"))],
  ])("as %s is rejected within seconds", async (_, body) => {
    const started = performance.now();
    const response = await push(body());
    expect(response.status).toBe(400);
    // It takes 1.5 s on a quiet machine, and minutes if the time grows with the square of the size.
    expect(performance.now() - started).toBeLessThan(40_000);
    expect((await push(buildTestTill())).status).toBe(201);
  });
});
