import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { OrderLiveInput } from "@pragma/contracts/order-live";
import type { Principal } from "@pragma/contracts/principal";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  buildTestLiveOrderProductRow,
  createChangedTestLiveOrder,
  createTestLiveOrderInput,
} from "../testing/order-fixtures.ts";
import {
  buildTestPosPrincipalAndLocation,
  startTestOrderLiveService,
  type TestOrderLiveService,
} from "../testing/start-test-order-live.ts";

let orderLive: TestOrderLiveService;
const { principal } = buildTestPosPrincipalAndLocation();
beforeAll(async () => {
  orderLive = await startTestOrderLiveService();
});
afterAll(() => orderLive.remove());

const path = "/v1/orders-live/";
const createOrders = (count: number) => Array.from({ length: count }, () => createTestLiveOrderInput());

/** Sends an invalid body, expects that nothing is stored, and returns the problem. */
async function postInvalid(body: unknown, headers: Record<string, string> = {}) {
  const problem = await orderLive.requestProblem({ method: "POST", path, principal, body, headers });
  expect((await orderLive.listOrders(principal)).meta.totalCount).toBe(0);
  return problem;
}

function withOrderData(order: OrderLiveInput, data: object): object {
  return { ...order, data: { ...order.data, ...data } };
}

describe("an invalid upsert", () => {
  it.each<[string, () => unknown, string, string]>([
    ["no order", () => [], "", "too_small"],
    ["51 orders", () => createOrders(51), "", "too_big"],
    ["one order without a list", () => createTestLiveOrderInput(), "", "invalid_type"],
    ["an item that is not an object", () => [...createOrders(1), 7], "[1]", "invalid_type"],
    [
      "a tillId that is not a UUID",
      () => [{ ...createTestLiveOrderInput(), tillId: "caisse 1" }],
      "[0].tillId",
      "invalid_format",
    ],
    [
      "no revisionHash",
      () => [{ ...createTestLiveOrderInput(), revisionHash: undefined }],
      "[0].revisionHash",
      "required",
    ],
    [
      "an empty revisionHash",
      () => [{ ...createTestLiveOrderInput(), revisionHash: "" }],
      "[0].revisionHash",
      "too_small",
    ],
    [
      "a revisionHash with a null character",
      () => [{ ...createTestLiveOrderInput(), revisionHash: "a\0" }],
      "[0].revisionHash",
      "custom",
    ],
    ["no data", () => [...createOrders(1), { ...createTestLiveOrderInput(), data: undefined }], "[1].data", "required"],
    [
      "a fraction of a cent",
      () => [withOrderData(createTestLiveOrderInput(), { total: 12.5 })],
      "[0].data.total",
      "invalid_type",
    ],
    [
      "data of another order",
      () => [withOrderData(createTestLiveOrderInput(), { id: randomUUID() })],
      "[0].data.id",
      "mismatch",
    ],
    ["a number as zip code", () => [{ ...createTestLiveOrderInput(), zipCode: 33000 }], "[0].zipCode", "invalid_type"],
  ])("returns 400 for %s", async (_, body, issuePath, code) => {
    const problem = await postInvalid(body());
    expect(problem).toMatchObject({ status: 400, code: "invalid_request" });
    expect(problem.errors).toEqual([{ in: "body", path: issuePath, code, message: expect.stringMatching(/\w/) }]);
  });

  it("returns 400 for a duplicate order, also with its id in another notation", async () => {
    const order = createTestLiveOrderInput();
    const duplicate = { ...order, id: `s${order.id.toUpperCase()}` };
    const problem = await postInvalid([order, createTestLiveOrderInput(), duplicate]);
    expect(problem.errors).toEqual([
      { in: "body", path: "[2].id", code: "duplicate", message: expect.stringContaining("order at index 0") },
    ]);
  });

  it("returns the issues of all orders and of the query together", async () => {
    const orders = createOrders(3).map((order, index) =>
      withOrderData(order, index === 1 ? {} : { guestsCount: -1, total: "x" }),
    );
    const options = {
      principal,
      body: [...orders, withOrderData(createTestLiveOrderInput(), { id: randomUUID(), openedAt: "yesterday" })],
    };
    const problem = await orderLive.requestProblem({ method: "POST", path: `${path}?locationId=7`, ...options });
    expect(problem.errors?.map((issue) => `${issue.in} ${issue.path}`).sort()).toEqual(
      [
        "query locationId",
        ...["[0].data.guestsCount", "[0].data.total", "[2].data.guestsCount", "[2].data.total"].map(
          (issuePath) => `body ${issuePath}`,
        ),
        ...["[3].data.id", "[3].data.openedAt"].map((issuePath) => `body ${issuePath}`),
      ].sort(),
    );
    expect((await orderLive.listOrders(principal)).meta.totalCount).toBe(0);
  });

  it("applies none of 50 orders when the last is invalid", async () => {
    const problem = await postInvalid([
      ...createOrders(49),
      withOrderData(createTestLiveOrderInput(), { guestsCount: -1 }),
    ]);
    expect(problem.errors).toMatchObject([{ path: "[49].data.guestsCount" }]);
  });

  it("counts all issues and lists 100 of them", async () => {
    const problem = await postInvalid(
      createOrders(50).map((order) => withOrderData(order, { productRowList: Array(40).fill({}) })),
    );
    expect(problem.errors).toHaveLength(100);
    expect(problem.detail).toContain("more than 10000 issues");
  });

  it.each<[string, () => unknown]>([
    [
      "an order with too many rows",
      () => [withOrderData(createTestLiveOrderInput(), { productRowList: Array(10_001).fill(0) })],
    ],
    [
      "an order that is too large for an event",
      () => [withOrderData(createTestLiveOrderInput(), { productRowList: createLargeRows() })],
    ],
    ["megabytes of empty objects", () => [{ x: Array(500_000).fill({}) }]],
    ["thousands of orders", () => Array(300_000).fill({})],
  ])("returns 400 within 2 seconds for %s", async (_, body) => {
    const startedAt = performance.now();
    const problem = await postInvalid(body());
    expect(problem.errors?.map(({ code }) => code)).toContain("too_big");
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it("is rejected when the body is too large or malformed", async () => {
    const large = Buffer.alloc(9 * 1024 * 1024, " ");
    expect((await postInvalid(large)).code).toBe("body_too_large");
    expect((await postInvalid(gzipSync(large), { "content-encoding": "gzip" })).code).toBe("body_too_large");
    expect((await postInvalid("[{")).code).toBe("malformed_json");
    expect((await postInvalid("")).code).toBe("malformed_json");
    expect((await postInvalid("a=1", { "content-type": "text/plain" })).code).toBe("unsupported_media_type");
  });

  it("is rejected without the scope or without a location", async () => {
    const reader = buildTestPrincipal({ scopes: ["orders:read"] });
    expect(
      (await orderLive.requestProblem({ method: "POST", path, principal: reader, body: createOrders(1) })).code,
    ).toBe("scope_missing");
    const adminPrincipal = buildTestPrincipal({ scopes: ["admin"], location: null });
    const problem = await orderLive.requestProblem({
      method: "POST",
      path,
      principal: adminPrincipal,
      body: createOrders(1),
    });
    expect(problem.errors).toMatchObject([{ in: "query", path: "locationId", code: "required" }]);
  });
});

describe("the daily quota of a location", () => {
  it("rejects a request that exceeds it, and does not count skipped orders", async () => {
    const pos = buildTestPosPrincipalAndLocation();
    const order = createTestLiveOrderInput();
    const [applied] = await orderLive.upsertOrders(pos.principal, order);
    const bytes = Buffer.byteLength(JSON.stringify(applied));
    const limitedInstance = await orderLive.startAnotherInstance({
      MAX_LIVE_ORDER_BYTES_PER_DAY: String(Math.floor(bytes * 2.5)),
    });
    const send = (...orders: OrderLiveInput[]) =>
      limitedInstance.request("POST", path, { principal: pos.principal, body: orders });
    expect((await send(createChangedTestLiveOrder(order, {}))).status).toBe(200);
    const lastRevisionHash = (await orderLive.listOrders(pos.principal)).data[0]?.revisionHash;
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const response = await send({ ...order, revisionHash: lastRevisionHash ?? "" });
      expect([response.status, await response.text()]).toEqual([200, "[]"]);
    }
    const rejected = await send(createChangedTestLiveOrder(order, { guestsCount: 9 }), createTestLiveOrderInput());
    expect(rejected.status).toBe(429);
    const retryAfterSeconds = Number(rejected.headers.get("retry-after"));
    expect(retryAfterSeconds > 0 && retryAfterSeconds <= 24 * 60 * 60).toBe(true);
    expect(await rejected.json()).toMatchObject({
      code: "quota_exceeded",
      limit: { name: "live_order_bytes", unit: "bytes per day" },
    });
    const { data } = await orderLive.listOrders(pos.principal);
    expect(data.map(({ revisionHash }) => revisionHash)).toEqual([lastRevisionHash]);
    const otherPos = buildTestPosPrincipalAndLocation();
    const response = await limitedInstance.request("POST", path, {
      principal: otherPos.principal,
      body: [createTestLiveOrderInput()],
    });
    expect(response.status).toBe(200);
  });
});

describe("the daily quota of a location's order events", () => {
  it("rejects an order with an event that exceeds it, and counts no order without an event", async () => {
    const pos = buildTestPosPrincipalAndLocation();
    const limitedInstance = await orderLive.startAnotherInstance({ MAX_LIVE_ORDER_EVENT_BYTES_PER_DAY: "1" });
    const send = async (order: OrderLiveInput) =>
      (await limitedInstance.request("POST", path, { principal: pos.principal, body: [order] })).json();
    const order = createTestLiveOrderInput();
    expect(await send(order)).toMatchObject({
      ...{ status: 429, code: "quota_exceeded" },
      limit: { name: "live_order_event_bytes", maximum: 1, unit: "bytes per day" },
    });
    expect((await orderLive.listOrders(pos.principal)).data).toEqual([]);
    expect(await send({ ...order, data: { ...order.data, isTraining: true } })).toMatchObject([{ id: order.id }]);
  });
});

describe("the daily quotas of a sandbox", () => {
  it("are a quarter of those of other locations", async () => {
    const limits = { MAX_LIVE_ORDER_BYTES_PER_DAY: "400", MAX_LIVE_ORDER_EVENT_BYTES_PER_DAY: "40000" };
    const limitedInstance = await orderLive.startAnotherInstance(limits);
    const location = { ...buildTestPrincipal().location, isSandbox: true } as Principal["location"];
    const sandbox = buildTestPosPrincipalAndLocation({ location });
    const send = async (order: OrderLiveInput) =>
      (await limitedInstance.request("POST", path, { principal: sandbox.principal, body: [order] })).json();
    expect(await send(createTestLiveOrderInput())).toMatchObject({
      ...{ status: 429, code: "quota_exceeded" },
      limit: { name: "live_order_bytes", maximum: 100, unit: "bytes per day" },
    });
    const large = createTestLiveOrderInput({ productRowList: createLargeRows().slice(0, 1) });
    const events = await orderLive.startAnotherInstance({ MAX_LIVE_ORDER_EVENT_BYTES_PER_DAY: "40000" });
    const post = (principal: Principal) => events.request("POST", path, { principal, body: [large] });
    expect((await post(buildTestPosPrincipalAndLocation().principal)).status).toBe(200);
    expect(await (await post(sandbox.principal)).json()).toMatchObject({
      limit: { name: "live_order_event_bytes", maximum: 10_000, unit: "bytes per day" },
    });
  });
});

describe("a large order", () => {
  it("of up to 512 KB is applied, and its event is published", async () => {
    const pos = buildTestPosPrincipalAndLocation();
    const order = createTestLiveOrderInput({ productRowList: createLargeRows().slice(0, 30) });
    const remainingBytes = 512 * 1024 - Buffer.byteLength(JSON.stringify(order)) - 1_500;
    const rows = Array.from({ length: Math.floor(remainingBytes / 12_000) }, () => ({
      ...buildTestLiveOrderProductRow(),
      comment: "é".repeat(5_000),
    }));
    order.data.productRowList.push(...rows);
    expect(Buffer.byteLength(JSON.stringify(order))).toBeGreaterThan(500_000);
    expect(await orderLive.upsertOrders(pos.principal, order)).toHaveLength(1);
    await orderLive.waitForEmptyOutbox();
    expect(await orderLive.publishedEvents(order.id)).toHaveLength(1);
  });

  it("is applied with gzip, and characters that PostgreSQL cannot store are kept in its JSON", async () => {
    const pos = buildTestPosPrincipalAndLocation();
    const rows = Array.from({ length: 200 }, buildTestLiveOrderProductRow);
    const order = createTestLiveOrderInput({
      productRowList: rows,
      comment: "a\0b \ud800",
      deviceIdentifier: "\0d\udfff",
      deviceName: "\0",
    });
    const response = await orderLive.request("POST", path, {
      principal: pos.principal,
      body: gzipSync(JSON.stringify([order])),
      headers: { "content-encoding": "gzip" },
    });
    expect(response.status).toBe(200);
    const [listed] = (await orderLive.listOrders(pos.principal)).data;
    expect(listed?.data).toEqual(order.data);
    const devices = await orderLive.db.sql`
      select id, name from published_devices where location_id = ${pos.locationId}`;
    expect(devices).toEqual([{ id: "d", name: null }]);
  });
});

function createLargeRows() {
  return Array.from({ length: 100 }, () => ({ ...buildTestLiveOrderProductRow(), comment: "x".repeat(9_900) }));
}
