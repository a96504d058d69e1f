import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { problemSchema } from "@pragma/contracts/errors";
import { sleep } from "@pragma/runtime/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { residentMegabytes } from "./harness/memory.ts";
import { type Product, type Role, startProduct } from "./harness/product.ts";
import { openShop, type Shop } from "./harness/shop.ts";

// Bodies that are made to take all memory: they are refused, and no other location notices.

const mebibyte = 1024 * 1024;
const packed = promisify(gzip);
/** Of each process's heap, in megabytes. */
const heap = 384;
const maxResidentMegabytes = 1_000;

let environment: TestEnvironment;
let product: Product;
let attacker: Shop;
let neighbor: Shop;

beforeAll(async () => {
  // A busy machine needs time to look at what is held open.
  environment = await createTestEnvironment({ BODY_WINDOW_SECONDS: "60" });
  const variablesOf = () => ({ NODE_OPTIONS: `--max-old-space-size=${heap}` });
  product = await startProduct(environment.variables, {
    split: ["accounts", "till-ingest", "order-live", "reporting", "catalog", "jobs"],
    variablesOf,
  });
  const scopes = ["tills:write", "tills:read", "reports:read", "catalog:write", "orders:write", "jobs:write"] as const;
  [attacker, neighbor] = await Promise.all([
    openShop(product, { scopes: [...scopes] }),
    openShop(product, { scopes: [...scopes] }),
  ]);
}, 120_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
});

/** The till of a busy day: above a megabyte. */
const busyTill = (orders = 150) => generateTill({ seed: 5, orders, day: "2026-05-29", tillId: randomUUID() });

async function send(shop: Shop, method: string, path: string, body: Uint8Array) {
  const response = await shop.ask(method, path, { body, headers: { "content-encoding": "gzip" } });
  return { status: response.status, problem: problemSchema.safeParse(await response.json()).data };
}

/** By their size, for when the next test asks for as many. */
const knownMembers = new Map<number, string>();

/** The members `"k0":0,"k1":0...` of an object, of a size. */
function members(size: number): string {
  const known = knownMembers.get(size);
  if (known) return known;
  const parts: string[] = [];
  for (let length = 0, i = 0; length < size; i += 1) {
    const member = `"k${i.toString(36)}":0`;
    parts.push(member);
    length += member.length + 1;
  }
  const text = parts.join(",");
  knownMembers.set(size, text);
  return text;
}

/** What happens to the process of a part, and to pushes of another location, while something is done. */
async function watching<T>(role: Role, work: () => Promise<T>): Promise<{ result: T; slowestPushMs: number }> {
  const pid = product.process(role).pid ?? 0;
  let isDone = false;
  let slowestPushMs = 0;
  let peak = 0;
  const watchMemory = async () => {
    for (; !isDone; await sleep(50)) {
      peak = Math.max(peak, await residentMegabytes(pid));
    }
  };
  const push = async () => {
    // Every pause that is looked for is longer than that between two tills.
    for (; !isDone; await sleep(250)) {
      const body = await packed(JSON.stringify(busyTill()), { level: 1 });
      const started = performance.now();
      const { status } = await send(neighbor, "POST", "/v2/tills/", body);
      slowestPushMs = Math.max(slowestPushMs, performance.now() - started);
      expect(status).toBe(201);
    }
  };
  const others = [watchMemory(), push()];
  const result = await work().finally(() => {
    isDone = true;
  });
  await Promise.all(others);
  // A process that had ended would have no memory to tell, and nobody starts it again.
  expect(await residentMegabytes(pid)).toBeGreaterThan(0);
  expect(peak).toBeLessThan(maxResidentMegabytes);
  return { result, slowestPushMs };
}

describe("millions of keys in a small gzip", () => {
  const tillId = randomUUID();
  it.each<[string, string, Role, number, (members: string) => string]>([
    ["POST", "/v2/tills/", "till-ingest", 49, (keys) => `{${keys}}`],
    ["POST", "/v1/tills/", "till-ingest", 49, (keys) => `{"tillJson":{${keys}}}`],
    ["PUT", `/v1/tills/${tillId}`, "till-ingest", 49, (keys) => `{"orderList":[{${keys}}]}`],
    ["PUT", "/v1/catalog/", "catalog", 19, (keys) => `{${keys}}`],
    ["POST", "/v1/orders-live/", "order-live", 7.9, (keys) => `[{${keys}}]`],
    ["POST", "/v1/jobs/", "jobs", 0.99, (keys) => `{${keys}}`],
  ])(
    "is refused by %s %s while another location pushes",
    async (method, path, role, megabytes, bodyOf) => {
      const body = await packed(bodyOf(members(megabytes * mebibyte)));
      const { result, slowestPushMs } = await watching(role, () =>
        Promise.all([1, 2, 3, 4].map(() => send(attacker, method, path, body))),
      );
      for (const { status, problem } of result) {
        // Of the largest bodies a location may send one at a time.
        if (problem?.code === "overloaded") continue;
        expect(status).toBe(400);
        expect(problem?.errors).toMatchObject([
          { code: "too_big", message: expect.stringMatching(/at most \d+ (?:values|different names)/) },
        ]);
      }
      expect(result.map(({ status }) => status)).toContain(400);
      expect(slowestPushMs).toBeLessThan(2_000);
    },
    60_000,
  );
});

describe("a body that holds as much as it may", () => {
  /** Objects of few enough names, but each of others. */
  const objects = () =>
    Array.from(
      { length: 149_000 },
      (_, i) => `{${Array.from({ length: 12 }, (_, j) => `"${((i * 7 ** j + j) % 4_900).toString(36)}":0`)}}`,
    );
  it.each([
    ["lists", () => `{"orderList":[${Array.from({ length: 149_000 }, () => "[0,0,0,0,0,0,0,0,0,0,0]")}]}`],
    ["texts", () => `{"\u2019":[${Array.from({ length: 1_990_000 }, (_, i) => `"text of ${i}"`)}]}`],
    ["objects of different shapes", () => `{"a":[${objects()}]}`],
    ["faults of its JSON", () => `{${" x\n".repeat(14 * mebibyte)}`],
  ])(
    "of %s is read, refused, and holds up nobody",
    async (_, body) => {
      const bytes = await packed(body());
      const { result, slowestPushMs } = await watching("till-ingest", () =>
        Promise.all([1, 2].map(() => send(attacker, "POST", "/v2/tills/", bytes))),
      );
      for (const { status } of result) expect([400, 503]).toContain(status);
      expect(result.map(({ status }) => status)).toContain(400);
      expect(slowestPushMs).toBeLessThan(2_000);
    },
    60_000,
  );
});

describe("a till that holds as much as it may", () => {
  const withJunk = () => {
    const members = Array.from({ length: 120 }, (_, i) => `"m${i}":1`).join(",");
    const rows = Array.from({ length: 14_000 }, (_, i) => `{"x${i % 4_000}":"\u2019",${members}}`);
    return JSON.stringify({ ...busyTill(), junk: "?" }).replace('"?"', `{"nested":[${rows}]}`);
  };
  const many = (orders: number) => {
    const till = generateTill({ seed: 6, orders, day: "2026-05-29", tillId: randomUUID() });
    return JSON.stringify({ ...till, note: "\u2019" });
  };
  /** Rows of nothing but what is required, whose replies are many times as long. */
  const bare = () => {
    const till = busyTill();
    const row = {
      ...{ taxRate: 10, taxAmount: 0, taxableAmount: 0, unitPriceRow: 0, unitPriceRowWithModifier: 0 },
      ...{ totalRowWithModifier: 0, totalDiscount: 0, totalRow: 0, quantity: 1, isTransferred: false, isMerged: false },
      ...{ isCustomPrice: false, validated: true, isCanceled: false, modifierRowList: [], discountRowList: [] },
    };
    const rows = Array.from({ length: 300 }, (_, index) => ({ id: String(index), ...row }));
    return JSON.stringify({ ...till, orderList: till.orderList.map((order) => ({ ...order, productRowList: rows })) });
  };

  it.each([
    ["of 5,000 orders", () => many(5_000)],
    ["of unknown members", withJunk],
    ["of rows that are as short as they can be", bare],
  ])(
    "%s gets its report, and reports of others do not wait for it",
    async (_, makeText) => {
      const shop = await openShop(product);
      const text = makeText();
      const body = await packed(text);
      expect(Buffer.byteLength(text), "bytes").toBeGreaterThan(mebibyte);
      expect((await send(shop, "POST", "/v2/tills/", body)).problem).toBeUndefined();
      const pid = product.process("reporting").pid ?? 0;
      let slowest = 0;
      let peak = 0;
      await eventually(
        "the report",
        async () => {
          const other = await openShop(product);
          const till = await packed(JSON.stringify(busyTill(40)));
          const started = performance.now();
          expect((await send(other, "POST", "/v2/tills/", till)).status).toBe(201);
          await other.reports(1);
          slowest = Math.max(slowest, performance.now() - started);
          peak = Math.max(peak, await residentMegabytes(pid));
          return (await shop.api.GET("/v2/reports", { params: { query: {} } })).data.meta.totalCount === 1;
        },
        { withinSeconds: 60 },
      );
      expect(slowest).toBeLessThan(2_000);
      expect(peak).toBeLessThan(maxResidentMegabytes);
    },
    120_000,
  );
});

describe("bodies that are held open", () => {
  it("take what one location may have, and leave the rest to others", async () => {
    const away = new AbortController();
    const body = await packed(Buffer.alloc(50 * mebibyte, " "), { level: 1 });
    const holdOpen = () =>
      fetch(`${product.url}/v2/tills`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${attacker.key}`,
          "content-type": "application/json",
          "content-encoding": "gzip",
        },
        // All but its last byte.
        body: new ReadableStream({ start: (controller) => controller.enqueue(body.subarray(0, -1)) }),
        duplex: "half",
        signal: away.signal,
      } as RequestInit).catch(() => {});
    const another = await packed(Buffer.alloc(30 * mebibyte, " "), { level: 1 });
    try {
      const refused = await eventually("the location's share to be taken", async () => {
        // Not several at once: each of them may be refused for what the others have taken, and then none holds anything.
        holdOpen();
        await sleep(500);
        const answer = await send(attacker, "POST", "/v2/tills/", another);
        return answer.status === 503 && answer.problem;
      });
      for (let i = 0; i < 4; i += 1) holdOpen();
      expect(refused).toMatchObject({ code: "overloaded", limit: { unit: "bytes" } });
      for (let i = 0; i < 5; i += 1) {
        const push = await packed(JSON.stringify(busyTill()));
        const started = performance.now();
        expect((await send(neighbor, "POST", "/v2/tills/", push)).status).toBe(201);
        expect(performance.now() - started).toBeLessThan(2_000);
      }
    } finally {
      away.abort();
    }
  }, 60_000);
});
