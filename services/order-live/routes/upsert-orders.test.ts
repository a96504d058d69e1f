import { randomUUID } from "node:crypto";
import { OrderLive, OrderLiveInput } from "@pragma/contracts/order-live";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { measureLongestEventLoopBlockMs } from "@pragma/runtime/testing/measure-event-loop-block";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { upsertLiveOrderRows } from "../queries/orders.ts";
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
beforeAll(async () => {
  orderLive = await startTestOrderLiveService();
});
afterAll(() => orderLive.remove());

const path = "/v1/orders-live/";
const typesOf = async (id: string) => (await orderLive.publishedEvents(id)).map(({ type }) => type);

describe("an upserted order", () => {
  it("is returned with all fields and times, also by its id", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const order = createTestLiveOrderInput({ roomName: "Terrasse", channel: "phone" }, { customFooter: "Merci" });
    const [applied] = await orderLive.upsertOrders(principal, order);
    expect(applied).toMatchObject({
      ...order,
      locationId,
      roomName: "Terrasse",
      channel: "phone",
      source: "unknown",
      total: 3430,
      createdAt: expect.stringMatching(/Z$/),
      customFooter: "Merci",
      country: "France",
    });
    const response = await orderLive.request("GET", `${path}${order.id}`, { principal });
    expect(OrderLive.parse(await response.json())).toEqual(applied);
  });

  it("keeps createdAt and sets updatedAt on each change", async () => {
    const { principal } = buildTestPosPrincipalAndLocation();
    const order = createTestLiveOrderInput();
    const [first] = await orderLive.upsertOrders(principal, order);
    const [second] = await orderLive.upsertOrders(principal, createChangedTestLiveOrder(order, { guestsCount: 5 }));
    expect(second?.createdAt).toBe(first?.createdAt);
    expect(Date.parse(second?.updatedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(first?.updatedAt ?? ""));
    expect(second?.data.guestsCount).toBe(5);
  });

  it("changes no index when its products change", async () => {
    const { locationId } = buildTestPosPrincipalAndLocation();
    const now = new Date().toISOString();
    const state = {
      ...{ tillId: randomUUID(), isTraining: false, isPaid: false, isTransferred: false, isCanceled: false },
      ...{ isManuallyClosed: false, modifiedAt: null, hasDeparted: false, closedAt: null },
      ...{
        id: randomUUID(),
        openedAt: now,
        createdAt: new Date(now),
        etag: "etag",
        body: JSON.stringify({ rows: "row ".repeat(99) }),
      },
    };
    let updatesInPage = 0;
    for (let sequence = 0; sequence < 20; sequence += 1) {
      const [updates] = await orderLive.db.transaction(async (tx) => {
        const itemsHash = String(sequence);
        const updatedAt = new Date().toISOString();
        const changed = { ...state, sequence, position: sequence, revisionHash: itemsHash, itemsHash, updatedAt };
        await upsertLiveOrderRows(tx, locationId, [changed]);
        return tx<[{ inPage: number }]>`
          select pg_stat_get_xact_tuples_hot_updated('live_orders'::regclass) as in_page`;
      });
      updatesInPage += updates.inPage;
    }
    expect(updatesInPage).toBeGreaterThan(15);
  });

  it("is stored under the UUID when its id begins with an s", async () => {
    const { principal } = buildTestPosPrincipalAndLocation();
    const id = randomUUID();
    const [applied] = await orderLive.upsertOrders(
      principal,
      createTestLiveOrderInput({}, { id: `s${id.toUpperCase()}` }),
    );
    expect(applied).toMatchObject({ id, data: { id } });
  });

  it("is skipped when its revision is already stored, or older than the stored revision", async () => {
    const { principal } = buildTestPosPrincipalAndLocation();
    const order = createTestLiveOrderInput({ modifiedAt: "2026-05-29T10:20:00.000Z" });
    expect(await orderLive.upsertOrders(principal, order)).toHaveLength(1);
    expect(await orderLive.upsertOrders(principal, { ...order, data: { ...order.data, guestsCount: 9 } })).toEqual([]);
    const late = createChangedTestLiveOrder(order, { modifiedAt: "2026-05-29T12:19:59.999+02:00" });
    expect(await orderLive.upsertOrders(principal, late)).toEqual([]);
    const sameTime = createChangedTestLiveOrder(order, { guestsCount: 3 });
    expect(await orderLive.upsertOrders(principal, sameTime)).toHaveLength(1);
    const withoutTime = createChangedTestLiveOrder(order, { modifiedAt: null, guestsCount: 4 });
    expect(await orderLive.upsertOrders(principal, withoutTime)).toHaveLength(1);
    // The late order is skipped, because the change without `modifiedAt` did not clear the stored `modifiedAt`.
    expect(await orderLive.upsertOrders(principal, late)).toEqual([]);
    expect((await orderLive.listOrders(principal)).data[0]?.data.guestsCount).toBe(4);
  });

  it("from a clock in the future does not block later updates, whatever their clock", async () => {
    const { principal } = buildTestPosPrincipalAndLocation();
    const afterMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
    const order = createTestLiveOrderInput({ modifiedAt: "2099-01-01T00:00:00.000Z" });
    const [applied] = await orderLive.upsertOrders(principal, order);
    expect(applied?.data.modifiedAt).toBe("2099-01-01T00:00:00.000Z");
    for (const modifiedAt of [afterMinutes(0), "2098-01-01T00:00:00.000Z", afterMinutes(60), afterMinutes(30)])
      expect(await orderLive.upsertOrders(principal, createChangedTestLiveOrder(order, { modifiedAt }))).toHaveLength(
        1,
      );
    const late = createChangedTestLiveOrder(order, { modifiedAt: afterMinutes(-1) });
    expect(await orderLive.upsertOrders(principal, late)).toEqual([]);
  });

  it("that is skipped is named in a header, with the reason", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const send = async (...orders: OrderLiveInput[]) => {
      const response = await orderLive.request("POST", path, { principal, body: orders });
      expect(response.status).toBe(200);
      return response.headers.get("x-skipped-orders");
    };
    const order = createTestLiveOrderInput({ modifiedAt: "2026-05-29T10:20:00.000Z" });
    const other = createTestLiveOrderInput();
    expect(await send(order, other)).toBeNull();
    const late = createChangedTestLiveOrder(order, { modifiedAt: "2026-05-29T10:19:00.000Z" });
    const added = createTestLiveOrderInput();
    expect(await send(late, added, other)).toBe(`${order.id}=outdated, ${other.id}=unchanged`);
    const closedAt = "2026-05-29T15:05:00.000Z";
    await orderLive.finishTill({ locationId, tillId: order.tillId, orderIds: [order.id] }, closedAt);
    expect(await send(createChangedTestLiveOrder(order, { modifiedAt: null }))).toBe(`${order.id}=till_closed`);
    const inNextTill = { ...createChangedTestLiveOrder(order, { modifiedAt: closedAt }), tillId: randomUUID() };
    expect(await send(inNextTill)).toBe(`${order.id}=in_report`);
  });

  it("continues in the next shift although a clock in the future closed its till", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const order = createTestLiveOrderInput();
    await orderLive.upsertOrders(principal, order);
    await orderLive.finishTill(
      { locationId, tillId: order.tillId, orderIds: [order.id] },
      new Date(Date.now() + 24 * 3_600_000).toISOString(),
    );
    await sleep(5);
    const modifiedAt = new Date().toISOString();
    const continued = { ...createChangedTestLiveOrder(order, { modifiedAt }), tillId: randomUUID() };
    expect(await orderLive.upsertOrders(principal, continued)).toHaveLength(1);
  });

  it("that is unchanged is omitted from the response", async () => {
    const { principal } = buildTestPosPrincipalAndLocation();
    const [unchanged, other, third] = [
      createTestLiveOrderInput(),
      createTestLiveOrderInput(),
      createTestLiveOrderInput(),
    ];
    await orderLive.upsertOrders(principal, unchanged);
    const applied = await orderLive.upsertOrders(principal, other, unchanged, third);
    expect(applied.map(({ id }) => id)).toEqual([other.id, third.id]);
    expect((await orderLive.listOrders(principal)).meta.totalCount).toBe(3);
  });

  it("is separate from another location's order with the same id", async () => {
    const [pos, otherPos] = [buildTestPosPrincipalAndLocation(), buildTestPosPrincipalAndLocation()];
    const order = createTestLiveOrderInput({ comment: "mine" });
    await orderLive.upsertOrders(pos.principal, order);
    const otherOrder = createChangedTestLiveOrder(order, { comment: "theirs" });
    const [applied] = await orderLive.upsertOrders(otherPos.principal, otherOrder);
    expect(applied).toMatchObject({ locationId: otherPos.locationId, data: { comment: "theirs" } });
    const getComment = async ({ principal }: typeof pos) => {
      const response = await orderLive.request("GET", path + order.id, { principal });
      return OrderLive.parse(await response.json()).data.comment;
    };
    expect(await Promise.all([pos, otherPos].map(getComment))).toEqual(["mine", "theirs"]);
    expect(
      (await orderLive.publishedEvents(order.id)).map(({ locationId, sequence }) => [locationId, sequence]),
    ).toEqual([
      [pos.locationId, 1],
      [otherPos.locationId, 1],
    ]);
  });

  it("belongs to the existing location that an API key for all locations names", async () => {
    const { id } = orderLive.accounts.addLocation();
    const { principal } = buildTestPosPrincipalAndLocation({
      scopes: ["orders:write", "orders:read", "locations:any"],
    });
    const body = [createTestLiveOrderInput()];
    const requestTo = (locationId: string) => ({
      method: "POST",
      path: `${path}?locationId=${locationId}`,
      body,
    });
    const schema = z.array(OrderLive);
    const applied = await orderLive.sendJson({ ...requestTo(id), principal }, { status: 200, schema });
    expect(applied).toMatchObject([{ locationId: id }]);
    const unknown = await orderLive.requestProblem({ ...requestTo(randomUUID()), principal });
    expect(unknown.code).toBe("location_not_found");
    const forbidden = await orderLive.requestProblem({
      ...requestTo(id),
      principal: buildTestPosPrincipalAndLocation().principal,
    });
    expect(forbidden.code).toBe("location_forbidden");
  });

  it("is applied and streamed once per Idempotency-Key", async () => {
    const { principal } = buildTestPosPrincipalAndLocation();
    const stream = await orderLive.openStream(principal);
    await stream.waitForEvents(1, "ready");
    const request = { principal, body: [createTestLiveOrderInput()], headers: { "idempotency-key": randomUUID() } };
    const first = await orderLive.request("POST", path, request);
    const repeated = await orderLive.request("POST", path, request);
    expect(await repeated.text()).toBe(await first.text());
    expect((await stream.waitForEvents(1, "order")).length).toBe(1);
    await stream.close();
  });
});

describe("the events of an order", () => {
  it("follow its changes and are numbered", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const opened = createTestLiveOrderInput();
    const withRow = createChangedTestLiveOrder(opened, {
      productRowList: [...opened.data.productRowList, buildTestLiveOrderProductRow()],
    });
    const partlyPaid = createChangedTestLiveOrder(withRow, { leftToPay: 1000 });
    const paid = createChangedTestLiveOrder(partlyPaid, { isPaid: true, leftToPay: 0 });
    const printed = createChangedTestLiveOrder(paid, { postPaymentPrintCount: 1 });
    const reopened = createChangedTestLiveOrder(printed, { isPaid: false });
    const paidAgain = createChangedTestLiveOrder(reopened, { isPaid: true });
    for (const order of [opened, withRow, partlyPaid, paid, printed, reopened, paidAgain]) {
      expect(await orderLive.upsertOrders(principal, order)).toHaveLength(1);
    }
    const events = await orderLive.publishedEvents(opened.id);
    expect(events.map(({ type, sequence }) => [type, sequence])).toEqual([
      ["order.call", 1],
      ["order.call", 2],
      ["order.paid", 3],
      ["order.call", 4],
      ["order.paid", 5],
    ]);
    expect(events[2]?.order).toMatchObject({
      id: opened.id,
      tillId: opened.tillId,
      locationId,
      revisionHash: paid.revisionHash,
      isPaid: true,
      establishmentName: "Bistro Démo",
      productRowList: paid.data.productRowList,
    });
  });

  it.each([
    [["order.canceled"], { isCanceled: true, isTransferred: true, isPaid: true }],
    [["order.transferred"], { isTransferred: true, isPaid: true }],
    [["order.paid"], { isPaid: true }],
    [["order.call"], {}],
    [[], { manuallyClosed: true }],
    [[], { isTraining: true, isPaid: true }],
  ])("are %j for a new order with %j", async (events, data) => {
    const { principal } = buildTestPosPrincipalAndLocation();
    const order = createTestLiveOrderInput(data);
    await orderLive.upsertOrders(principal, order);
    expect(await typesOf(order.id)).toEqual(events);
  });

  it("do not include a change that only rearranges products", async () => {
    const { principal } = buildTestPosPrincipalAndLocation();
    const order = createTestLiveOrderInput({
      productRowList: [buildTestLiveOrderProductRow(), buildTestLiveOrderProductRow()],
    });
    await orderLive.upsertOrders(principal, order);
    await orderLive.upsertOrders(
      principal,
      createChangedTestLiveOrder(order, { productRowList: [...order.data.productRowList].reverse() }),
    );
    expect(await typesOf(order.id)).toEqual(["order.call"]);
  });

  it("keep the 200 devices that were published last", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const sendFromDevices = (first: number) =>
      orderLive.upsertOrders(
        principal,
        ...Array.from({ length: 50 }, (_, index) =>
          createTestLiveOrderInput({ deviceIdentifier: `d${first + index}` }),
        ),
      );
    for (let first = 0; first < 250; first += 50) await sendFromDevices(first);
    const devices = await orderLive.db.sql`select id from published_devices where location_id = ${locationId}`;
    expect(devices.map(({ id }) => id).sort()).toEqual(
      Array.from({ length: 200 }, (_, index) => `d${50 + index}`).sort(),
    );
  });

  it("include the device at most once an hour or when its name changes", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const [deviceIdentifier, other] = [randomUUID(), randomUUID()];
    const order = createTestLiveOrderInput({ deviceIdentifier, deviceName: "Bar" });
    await orderLive.upsertOrders(
      principal,
      order,
      createTestLiveOrderInput({ deviceIdentifier: other, deviceName: null }),
    );
    await orderLive.upsertOrders(principal, createChangedTestLiveOrder(order, { guestsCount: 3 }));
    await orderLive.upsertOrders(principal, createChangedTestLiveOrder(order, { guestsCount: 4, deviceName: null }));
    await orderLive.upsertOrders(
      principal,
      createChangedTestLiveOrder(order, { guestsCount: 5, deviceName: "Terrasse" }),
    );
    await orderLive.db.sql`update published_devices set published_at = published_at - interval '61 minutes'`;
    await orderLive.upsertOrders(principal, createChangedTestLiveOrder(order, { guestsCount: 6, deviceName: null }));
    const rows = await orderLive.db.sql<{ body: string }[]>`
      select body from recorded_outbox where type = 'device.seen' and location_id = ${locationId} order by position`;
    expect(rows.map(({ body }) => JSON.parse(body).data).map(({ deviceId, name }) => [deviceId, name])).toEqual([
      [deviceIdentifier, "Bar"],
      [other, null],
      [deviceIdentifier, "Terrasse"],
      [deviceIdentifier, "Terrasse"],
    ]);
  });

  it("include no more devices once the location has used up its daily quota of them, but all orders", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const unchanged = createTestLiveOrderInput({ deviceIdentifier: "first" });
    await orderLive.upsertOrders(principal, unchanged);
    await orderLive.db.sql`
      update daily_usage set used = 19999 where location_id = ${locationId} and quota = 'device_events'`;
    for (const deviceIdentifier of ["second", "third", "fourth"]) {
      const { data, ...order } = unchanged;
      await orderLive.upsertOrders(principal, { ...order, data: { ...data, deviceIdentifier } });
    }
    const changed = createTestLiveOrderInput({ deviceIdentifier: "fifth" });
    expect(await orderLive.upsertOrders(principal, changed)).toMatchObject([{ id: changed.id }]);
    const rows = await orderLive.db.sql<{ body: string }[]>`
      select body from recorded_outbox where type = 'device.seen' and location_id = ${locationId} order by position`;
    expect(rows.map(({ body }) => JSON.parse(body).data.deviceId)).toEqual(["first", "second"]);
  });
});

describe("a training order", () => {
  it("is returned and can be read by id, but is in no list or stream", async () => {
    const { principal } = buildTestPosPrincipalAndLocation();
    const stream = await orderLive.openStream(principal);
    await stream.waitForEvents(1, "ready");
    const order = createTestLiveOrderInput({ isTraining: true });
    expect(await orderLive.upsertOrders(principal, order)).toHaveLength(1);
    expect((await orderLive.request("GET", path + order.id, { principal })).status).toBe(200);
    expect((await orderLive.listOrders(principal)).meta.totalCount).toBe(0);
    await orderLive.upsertOrders(principal, createTestLiveOrderInput());
    await stream.waitForEvents(1, "order");
    expect(stream.events.map(({ type }) => type)).toEqual(["ready", "order"]);
    await stream.close();
  });

  it("is listed after it has left training mode, and is removed from the list when it is in training mode again", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const order = createTestLiveOrderInput({ isTraining: true });
    await orderLive.upsertOrders(principal, order);
    const stream = await orderLive.openStream(principal);
    await stream.waitForEvents(1, "ready");
    const realOrder = createChangedTestLiveOrder(order, { isTraining: false });
    await orderLive.upsertOrders(principal, realOrder);
    await orderLive.upsertOrders(principal, createChangedTestLiveOrder(realOrder, { isTraining: true }));
    const [, appeared, left] = await stream.waitForEvents(3);
    expect(appeared).toMatchObject({ type: "order", data: { id: order.id } });
    expect(left).toMatchObject({
      type: "left",
      data: { id: order.id, locationId, tillId: order.tillId, reason: "training" },
    });
    expect((await orderLive.listOrders(principal)).meta.totalCount).toBe(0);
    expect(await typesOf(order.id)).toEqual(["order.call"]);
    await stream.close();
  });
});

describe("a body of several megabytes", () => {
  const rows = Array.from({ length: 100 }, buildTestLiveOrderProductRow);
  const orders = Array.from({ length: 20 }, () => createTestLiveOrderInput({ productRowList: rows }));
  const body = JSON.stringify(orders);
  const { principal, locationId } = buildTestPosPrincipalAndLocation();

  it("is applied and published like a small body", async () => {
    const applied = await orderLive.upsertOrders(principal, ...orders);
    expect(applied.map(({ data }) => data)).toEqual(orders.map(({ data }) => data));
    const [event] = await orderLive.publishedEvents(orders[0]?.id ?? "");
    const { data, ...record } = orders[0] ?? expect.unreachable();
    expect(event).toMatchObject({ type: "order.call", locationId, order: { ...data, ...record, locationId } });
    expect(Object.keys(event?.order ?? {})).not.toContain("createdAt");
  });

  it.each([
    ["is unchanged", () => body, 200],
    ["is invalid", () => JSON.stringify([...orders, {}]), 400],
    ["is truncated", () => body.slice(0, -1), 400],
  ])("does not block other requests when it %s", async (_, createBody, status) => {
    const bytes = Buffer.from(createBody());
    const send = async () => {
      expect((await orderLive.request("POST", path, { principal, body: bytes })).status).toBe(status);
    };
    /** The longest block as a share of the time that parsing takes now. */
    const measureBlockShare = async () => {
      const blockMs = await measureLongestEventLoopBlockMs(send);
      const startedAt = performance.now();
      for (const order of JSON.parse(body)) OrderLiveInput.safeParse(order);
      return blockMs / (performance.now() - startedAt);
    };
    // Other work of the machine can block the event loop, too, but not in every measurement.
    const shares: number[] = [];
    while (shares.length < 15 && !shares.some((share) => share < 0.75)) shares.push(await measureBlockShare());
    expect(Math.min(...shares)).toBeLessThan(0.75);
  });
});
