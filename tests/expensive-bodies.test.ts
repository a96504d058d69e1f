import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { problemSchema } from "@pragma/contracts/problem";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PragmaProcessRole } from "./harness/pragma-process.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { readResidentMemoryMegabytes } from "./harness/resident-memory.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

// These tests check that bodies designed to use up all memory are rejected and do not slow down other locations.

const bytesPerMebibyte = 1024 * 1024;
const gzipOfSpaces = promisify(gzip);
/** Maximum heap size of each process, in megabytes. */
const maxHeapMegabytes = 384;
const maxResidentMegabytes = 1_000;

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let attacker: TestLocation;
let otherLocation: TestLocation;

beforeAll(async () => {
  // A body is rejected if too few bytes arrive within this period. The period is long, so that bodies that do not end
  // are not rejected before the checks, even on a busy machine.
  environment = await createMigratedTestEnvironment({ BODY_RATE_WINDOW_SECONDS: "60" });
  const variablesOf = () => ({ NODE_OPTIONS: `--max-old-space-size=${maxHeapMegabytes}` });
  product = await startPragmaUnderTest(environment.variables, {
    split: ["accounts", "till-ingest", "order-live", "reporting", "catalog", "jobs"],
    variablesOf,
  });
  const scopes = ["tills:write", "tills:read", "reports:read", "catalog:write", "orders:write", "jobs:write"] as const;
  [attacker, otherLocation] = await Promise.all([
    createTestLocation(product, { scopes: [...scopes] }),
    createTestLocation(product, { scopes: [...scopes] }),
  ]);
}, 300_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
});

/** Returns the till of a busy day. With 150 orders, its size is more than one megabyte. */
const createLargeTill = (orders = 150) => generateTill({ seed: 5, orders, day: "2026-05-29", tillId: randomUUID() });

async function sendBody(testLocation: TestLocation, method: string, path: string, body: Uint8Array) {
  const response = await testLocation.request(method, path, { body, headers: { "content-encoding": "gzip" } });
  return { status: response.status, problem: problemSchema.safeParse(await response.json()).data };
}

/** Cached results of `jsonObjectWithMembers`, by size, because creating a large text takes time. */
const membersBySize = new Map<number, string>();

/** Returns the members of an object, `"k0":0,"k1":0...`, as text of about `size` characters. */
function jsonObjectWithMembers(size: number): string {
  const cached = membersBySize.get(size);
  if (cached) return cached;
  const parts: string[] = [];
  for (let length = 0, i = 0; length < size; i += 1) {
    const member = `"k${i.toString(36)}":0`;
    parts.push(member);
    length += member.length + 1;
  }
  const text = parts.join(",");
  membersBySize.set(size, text);
  return text;
}

/** Runs `work`, and checks the memory of a process meanwhile. Also measures the slowest push of another location. */
async function measureWhile<T>(
  role: PragmaProcessRole,
  work: () => Promise<T>,
): Promise<{ result: T; slowestPushMs: number }> {
  const pid = product.process(role).pid ?? 0;
  let isDone = false;
  let slowestPushMs = 0;
  let peak = 0;
  const watchMemory = async () => {
    for (; !isDone; await sleep(50)) {
      peak = Math.max(peak, await readResidentMemoryMegabytes(pid));
    }
  };
  const push = async () => {
    // The pause between pushes is short, so that `work` overlaps with several pushes.
    for (; !isDone; await sleep(250)) {
      const body = await gzipOfSpaces(JSON.stringify(createLargeTill()), { level: 1 });
      const started = performance.now();
      const { status } = await sendBody(otherLocation, "POST", "/v2/tills/", body);
      slowestPushMs = Math.max(slowestPushMs, performance.now() - started);
      expect(status).toBe(201);
    }
  };
  const background = [watchMemory(), push()];
  const result = await work().finally(() => {
    isDone = true;
  });
  await Promise.all(background);
  // If the process had crashed, reading its memory would fail, because tests do not restart it.
  expect(await readResidentMemoryMegabytes(pid)).toBeGreaterThan(0);
  expect(peak).toBeLessThan(maxResidentMegabytes);
  return { result, slowestPushMs };
}

describe("a small gzip body with millions of keys", () => {
  it.each<[string, string, PragmaProcessRole, number, (members: string) => string]>([
    ["POST", "/v2/tills/", "till-ingest", 49, (keys) => `{${keys}}`],
    ["POST", "/v1/tills/", "till-ingest", 49, (keys) => `{"tillJson":{${keys}}}`],
    ["PUT", "/v1/catalog/", "catalog", 19, (keys) => `{${keys}}`],
    ["POST", "/v1/orders-live/", "order-live", 7.9, (keys) => `[{${keys}}]`],
    ["POST", "/v1/jobs/", "jobs", 0.99, (keys) => `{${keys}}`],
  ])(
    "is rejected by %s %s while another location pushes",
    async (method, path, role, megabytes, bodyOf) => {
      const body = await gzipOfSpaces(bodyOf(jsonObjectWithMembers(megabytes * bytesPerMebibyte)));
      const { result, slowestPushMs } = await measureWhile(role, () =>
        Promise.all([1, 2, 3, 4].map(() => sendBody(attacker, method, path, body))),
      );
      for (const { status, problem } of result) {
        // A location can send only one body of the maximum size at a time, so some concurrent bodies are rejected.
        if (problem?.code === "overloaded") continue;
        expect(status).toBe(400);
        expect(problem?.errors).toMatchObject([
          { code: "too_big", message: expect.stringMatching(/at most \d+ (?:values|different member names)/) },
        ]);
      }
      expect(result.map(({ status }) => status)).toContain(400);
      expect(slowestPushMs).toBeLessThan(2_000);
    },
    60_000,
  );
});

describe("a body at the limits", () => {
  /** Returns objects with different member names. The number of different names is below the limit. */
  const objects = () =>
    Array.from(
      { length: 149_000 },
      (_, i) => `{${Array.from({ length: 12 }, (_, j) => `"${((i * 7 ** j + j) % 4_900).toString(36)}":0`)}}`,
    );
  it.each([
    ["lists", () => `{"orderList":[${Array.from({ length: 149_000 }, () => "[0,0,0,0,0,0,0,0,0,0,0]")}]}`],
    ["strings", () => `{"\u2019":[${Array.from({ length: 1_990_000 }, (_, i) => `"text of ${i}"`)}]}`],
    ["objects of different shapes", () => `{"a":[${objects()}]}`],
    ["JSON syntax errors", () => `{${" x\n".repeat(14 * bytesPerMebibyte)}`],
  ])(
    "of %s is rejected without a delay for others",
    async (_, body) => {
      const bytes = await gzipOfSpaces(body());
      const { result, slowestPushMs } = await measureWhile("till-ingest", () =>
        Promise.all([1, 2].map(() => sendBody(attacker, "POST", "/v2/tills/", bytes))),
      );
      for (const { status } of result) expect([400, 503]).toContain(status);
      expect(result.map(({ status }) => status)).toContain(400);
      expect(slowestPushMs).toBeLessThan(2_000);
    },
    60_000,
  );
});

describe("a till at the limits", () => {
  const withUnknownMembers = () => {
    const members = Array.from({ length: 120 }, (_, i) => `"m${i}":1`).join(",");
    const rows = Array.from({ length: 14_000 }, (_, i) => `{"x${i % 4_000}":"\u2019",${members}}`);
    return JSON.stringify({ ...createLargeTill(), junk: "?" }).replace('"?"', `{"nested":[${rows}]}`);
  };
  const withOrders = (orders: number) => {
    const till = generateTill({ seed: 6, orders, day: "2026-05-29", tillId: randomUUID() });
    return JSON.stringify({ ...till, note: "\u2019" });
  };
  /** Returns a till whose rows have only required fields. Responses have all fields, so they are many times larger. */
  const withMinimalRows = () => {
    const till = createLargeTill();
    const row = {
      ...{ taxRate: 10, taxAmount: 0, taxableAmount: 0, unitPriceRow: 0, unitPriceRowWithModifier: 0 },
      ...{ totalRowWithModifier: 0, totalDiscount: 0, totalRow: 0, quantity: 1, isTransferred: false, isMerged: false },
      ...{ isCustomPrice: false, validated: true, isCanceled: false, modifierRowList: [], discountRowList: [] },
    };
    const rows = Array.from({ length: 300 }, (_, index) => ({ id: String(index), ...row }));
    return JSON.stringify({ ...till, orderList: till.orderList.map((order) => ({ ...order, productRowList: rows })) });
  };

  it.each<[string, () => string]>([
    ["with 5,000 orders", () => withOrders(5_000)],
    ...(process.env.EXPENSIVE_BODIES === "all"
      ? [["with unknown members", withUnknownMembers] as [string, () => string]]
      : []),
    ["with the shortest possible rows", withMinimalRows],
  ])(
    "%s gets its report, without a delay for reports of other locations",
    async (_, createText) => {
      const testLocation = await createTestLocation(product);
      const text = createText();
      const body = await gzipOfSpaces(text);
      expect(Buffer.byteLength(text), "bytes").toBeGreaterThan(bytesPerMebibyte);
      expect((await sendBody(testLocation, "POST", "/v2/tills/", body)).problem).toBeUndefined();
      const pid = product.process("reporting").pid ?? 0;
      let slowest = 0;
      let peak = 0;
      await eventually(
        "the report",
        async () => {
          const other = await createTestLocation(product);
          const till = await gzipOfSpaces(JSON.stringify(createLargeTill(40)));
          const started = performance.now();
          expect((await sendBody(other, "POST", "/v2/tills/", till)).status).toBe(201);
          await other.waitForReports(1);
          slowest = Math.max(slowest, performance.now() - started);
          peak = Math.max(peak, await readResidentMemoryMegabytes(pid));
          return (await testLocation.api.GET("/v2/reports", { params: { query: {} } })).data.meta.totalCount === 1;
        },
        { timeoutSeconds: 60 },
      );
      expect(slowest).toBeLessThan(2_000);
      expect(peak).toBeLessThan(maxResidentMegabytes);
    },
    120_000,
  );
});

describe("request bodies that do not end", () => {
  it("use up the body memory of their location, not the body memory of other locations", async () => {
    const abortController = new AbortController();
    const body = await gzipOfSpaces(Buffer.alloc(50 * bytesPerMebibyte, " "), { level: 1 });
    const holdBodyOpen = () =>
      fetch(`${product.url}/v2/tills`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${attacker.key}`,
          "content-type": "application/json",
          "content-encoding": "gzip",
        },
        // The stream never sends the last byte and never ends, so that the server waits for the rest of the body.
        body: new ReadableStream({ start: (controller) => controller.enqueue(body.subarray(0, -1)) }),
        duplex: "half",
        signal: abortController.signal,
      } as RequestInit).catch(() => {});
    const additionalBody = await gzipOfSpaces(Buffer.alloc(30 * bytesPerMebibyte, " "), { level: 1 });
    try {
      const rejection = await eventually("the location's body memory to be used up", async () => {
        // Bodies are sent one after another, because concurrent bodies could make each other exceed the limit.
        holdBodyOpen();
        await sleep(500);
        const response = await sendBody(attacker, "POST", "/v2/tills/", additionalBody);
        return response.status === 503 && response.problem;
      });
      for (let i = 0; i < 4; i += 1) holdBodyOpen();
      expect(rejection).toMatchObject({ code: "overloaded", limit: { unit: "bytes" } });
      for (let i = 0; i < 5; i += 1) {
        const push = await gzipOfSpaces(JSON.stringify(createLargeTill()));
        const started = performance.now();
        expect((await sendBody(otherLocation, "POST", "/v2/tills/", push)).status).toBe(201);
        expect(performance.now() - started).toBeLessThan(2_000);
      }
    } finally {
      abortController.abort();
    }
  }, 60_000);
});
