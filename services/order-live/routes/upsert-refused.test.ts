import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { OrderLiveInput } from "@pragma/contracts/order-live";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { changeLiveOrderInput, createLiveOrderInput, createTestProductRow } from "../testing/order-fixtures.ts";
import { createPosPrincipal, startTestOrderLive, type TestOrderLive } from "../testing/start-test-order-live.ts";

let orderLive: TestOrderLive;
const { principal } = createPosPrincipal();
beforeAll(async () => {
  orderLive = await startTestOrderLive();
});
afterAll(() => orderLive.remove());

const path = "/v1/orders-live/";
const createOrders = (count: number) => Array.from({ length: count }, () => createLiveOrderInput());

/** Sends what is not to be accepted, and sees that nothing of it was kept. */
async function postInvalid(body: unknown, headers: Record<string, string> = {}) {
  const problem = await orderLive.requestProblem("POST", path, { principal, body, headers });
  expect((await orderLive.listOrders(principal)).meta.totalCount).toBe(0);
  return problem;
}

function withOrderData(order: OrderLiveInput, data: object): object {
  return { ...order, data: { ...order.data, ...data } };
}

describe("a call that is refused", () => {
  it.each<[string, () => unknown, string, string]>([
    ["no order", () => [], "", "too_small"],
    ["51 orders", () => createOrders(51), "", "too_big"],
    ["one order without a list", () => createLiveOrderInput(), "", "invalid_type"],
    ["no object", () => [...createOrders(1), 7], "[1]", "invalid_type"],
    [
      "a tillId that is no uuid",
      () => [{ ...createLiveOrderInput(), tillId: "caisse 1" }],
      "[0].tillId",
      "invalid_format",
    ],
    ["no revisionHash", () => [{ ...createLiveOrderInput(), revisionHash: undefined }], "[0].revisionHash", "required"],
    ["an empty revisionHash", () => [{ ...createLiveOrderInput(), revisionHash: "" }], "[0].revisionHash", "too_small"],
    [
      "a revisionHash that is no text",
      () => [{ ...createLiveOrderInput(), revisionHash: "a\0" }],
      "[0].revisionHash",
      "custom",
    ],
    ["no data", () => [...createOrders(1), { ...createLiveOrderInput(), data: undefined }], "[1].data", "required"],
    [
      "a fraction of a cent",
      () => [withOrderData(createLiveOrderInput(), { total: 12.5 })],
      "[0].data.total",
      "invalid_type",
    ],
    [
      "data of another order",
      () => [withOrderData(createLiveOrderInput(), { id: randomUUID() })],
      "[0].data.id",
      "mismatch",
    ],
    ["a number as header", () => [{ ...createLiveOrderInput(), zipCode: 33000 }], "[0].zipCode", "invalid_type"],
  ])("names %s", async (_, body, faultPath, code) => {
    const problem = await postInvalid(body());
    expect(problem).toMatchObject({ status: 400, code: "invalid_request" });
    expect(problem.errors).toEqual([{ in: "body", path: faultPath, code, message: expect.stringMatching(/\w/) }]);
  });

  it("names the same order twice, however its id is written", async () => {
    const order = createLiveOrderInput();
    const again = { ...order, id: `s${order.id.toUpperCase()}` };
    const problem = await postInvalid([order, createLiveOrderInput(), again]);
    expect(problem.errors).toEqual([
      { in: "body", path: "[2].id", code: "duplicate", message: expect.stringContaining("already at index 0") },
    ]);
  });

  it("names the faults of every order at once, those of the query among them", async () => {
    const faulty = createOrders(3).map((order, index) =>
      withOrderData(order, index === 1 ? {} : { guestsCount: -1, total: "x" }),
    );
    const options = {
      principal,
      body: [...faulty, withOrderData(createLiveOrderInput(), { id: randomUUID(), openedAt: "yesterday" })],
    };
    const problem = await orderLive.requestProblem("POST", `${path}?locationId=7`, options);
    expect(problem.errors?.map((fault) => `${fault.in} ${fault.path}`).sort()).toEqual(
      [
        "query locationId",
        ...["[0].data.guestsCount", "[0].data.total", "[2].data.guestsCount", "[2].data.total"].map(
          (at) => `body ${at}`,
        ),
        ...["[3].data.id", "[3].data.openedAt"].map((at) => `body ${at}`),
      ].sort(),
    );
    expect((await orderLive.listOrders(principal)).meta.totalCount).toBe(0);
  });

  it("takes none of 50 orders when the last has a fault", async () => {
    const problem = await postInvalid([
      ...createOrders(49),
      withOrderData(createLiveOrderInput(), { guestsCount: -1 }),
    ]);
    expect(problem.errors).toMatchObject([{ path: "[49].data.guestsCount" }]);
  });

  it("counts faults and lists a hundred, however many there are", async () => {
    const problem = await postInvalid(
      createOrders(50).map((order) => withOrderData(order, { productRowList: Array(40).fill({}) })),
    );
    expect(problem.errors).toHaveLength(100);
    expect(problem.detail).toContain("more than 10000 issues");
  });

  it.each<[string, () => unknown]>([
    [
      "an order with more rows than any has",
      () => [withOrderData(createLiveOrderInput(), { productRowList: Array(10_001).fill(0) })],
    ],
    [
      "an order that is too large for an event",
      () => [withOrderData(createLiveOrderInput(), { productRowList: createLargeRows() })],
    ],
    ["megabytes of empty objects", () => [{ x: Array(500_000).fill({}) }]],
    ["thousands of orders", () => Array(300_000).fill({})],
  ])("is quick about %s", async (_, body) => {
    const since = performance.now();
    const problem = await postInvalid(body());
    expect(problem.errors?.map(({ code }) => code)).toContain("too_big");
    expect(performance.now() - since).toBeLessThan(2_000);
  });

  it("says so of a body that is too large, or cannot be read", async () => {
    const large = Buffer.alloc(9 * 1024 * 1024, " ");
    expect((await postInvalid(large)).code).toBe("body_too_large");
    expect((await postInvalid(gzipSync(large), { "content-encoding": "gzip" })).code).toBe("body_too_large");
    expect((await postInvalid("[{")).code).toBe("malformed_json");
    expect((await postInvalid("")).code).toBe("malformed_json");
    expect((await postInvalid("a=1", { "content-type": "text/plain" })).code).toBe("unsupported_media_type");
  });

  it("lacks the scope, or a location", async () => {
    const reader = createTestPrincipal({ scopes: ["orders:read"] });
    expect((await orderLive.requestProblem("POST", path, { principal: reader, body: createOrders(1) })).code).toBe(
      "scope_missing",
    );
    const nowhere = createTestPrincipal({ scopes: ["admin"], location: null });
    const problem = await orderLive.requestProblem("POST", path, { principal: nowhere, body: createOrders(1) });
    expect(problem.errors).toMatchObject([{ in: "query", path: "locationId", code: "required" }]);
  });
});

describe("more than a location may send in a day", () => {
  it("is refused with the quota, and changes nothing; what changes nothing is not counted", async () => {
    const shop = createPosPrincipal();
    const order = createLiveOrderInput();
    const [taken] = await orderLive.upsertOrders(shop.principal, order);
    const bytes = Buffer.byteLength(JSON.stringify(taken));
    const other = await orderLive.startAnotherInstance({ LIVE_ORDER_BYTES_PER_DAY: String(Math.floor(bytes * 2.5)) });
    const send = (...orders: OrderLiveInput[]) =>
      other.request("POST", path, { principal: shop.principal, body: orders });
    expect((await send(changeLiveOrderInput(order, {}))).status).toBe(200);
    const last = (await orderLive.listOrders(shop.principal)).data[0]?.revisionHash;
    for (let time = 0; time < 3; time += 1) {
      const again = await send({ ...order, revisionHash: last ?? "" });
      expect([again.status, await again.text()]).toEqual([200, "[]"]);
    }
    const refusal = await send(changeLiveOrderInput(order, { guestsCount: 9 }), createLiveOrderInput());
    expect(refusal.status).toBe(429);
    const waitSeconds = Number(refusal.headers.get("retry-after"));
    expect(waitSeconds > 0 && waitSeconds <= 24 * 60 * 60).toBe(true);
    expect(await refusal.json()).toMatchObject({
      code: "quota_exceeded",
      limit: { name: "live_order_bytes", unit: "bytes per day" },
    });
    const { data } = await orderLive.listOrders(shop.principal);
    expect(data.map(({ revisionHash }) => revisionHash)).toEqual([last]);
    const neighbour = createPosPrincipal();
    const answer = await other.request("POST", path, {
      principal: neighbour.principal,
      body: [createLiveOrderInput()],
    });
    expect(answer.status).toBe(200);
  });
});

describe("a large order", () => {
  it("is taken, and the event that carries it gets through, up to the size that is refused", async () => {
    const shop = createPosPrincipal();
    const order = createLiveOrderInput({ productRowList: createLargeRows().slice(0, 30) });
    const room = 512 * 1024 - Buffer.byteLength(JSON.stringify(order)) - 1_500;
    const rows = Array.from({ length: Math.floor(room / 12_000) }, () => ({
      ...createTestProductRow(),
      comment: "é".repeat(5_000),
    }));
    order.data.productRowList.push(...rows);
    expect(Buffer.byteLength(JSON.stringify(order))).toBeGreaterThan(500_000);
    expect(await orderLive.upsertOrders(shop.principal, order)).toHaveLength(1);
    await eventually("the outbox to be empty", async () => (await orderLive.db.sql`select 1 from outbox`).length === 0);
    expect(await orderLive.publishedEvents(order.id)).toHaveLength(1);
  });

  it("is taken, gzip or not, and what cannot be a text of the database is kept as JSON has it", async () => {
    const shop = createPosPrincipal();
    const rows = Array.from({ length: 200 }, createTestProductRow);
    const order = createLiveOrderInput({
      productRowList: rows,
      comment: "a\0b \ud800",
      deviceIdentifier: "\0d\udfff",
      deviceName: "\0",
    });
    const answer = await orderLive.request("POST", path, {
      principal: shop.principal,
      body: gzipSync(JSON.stringify([order])),
      headers: { "content-encoding": "gzip" },
    });
    expect(answer.status).toBe(200);
    const [listed] = (await orderLive.listOrders(shop.principal)).data;
    expect(listed?.data).toEqual(order.data);
    const devices = await orderLive.db.sql`select id, name from devices where location_id = ${shop.locationId}`;
    expect(devices).toEqual([{ id: "d", name: null }]);
  });
});

function createLargeRows() {
  return Array.from({ length: 100 }, () => ({ ...createTestProductRow(), comment: "x".repeat(9_900) }));
}
