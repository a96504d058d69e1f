import { randomUUID } from "node:crypto";
import { OrderLive, OrderLiveInput } from "@pragma/contracts/order-live";
import { measureLongestEventLoopBlockMs } from "@pragma/runtime/testing/measure-event-loop-block";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { changeLiveOrderInput, createLiveOrderInput, createTestProductRow } from "../testing/order-fixtures.ts";
import { createPosPrincipal, startTestOrderLive, type TestOrderLive } from "../testing/start-test-order-live.ts";

let orderLive: TestOrderLive;
beforeAll(async () => {
  orderLive = await startTestOrderLive();
});
afterAll(() => orderLive.remove());

const path = "/v1/orders-live/";
const typesOf = async (id: string) => (await orderLive.publishedEvents(id)).map(({ type }) => type);

describe("an order that is sent", () => {
  it("is answered whole, with the times at which it came, and read so by its id", async () => {
    const { principal, locationId } = createPosPrincipal();
    const order = createLiveOrderInput({ roomName: "Terrasse", channel: "phone" }, { customFooter: "Merci" });
    const [taken] = await orderLive.upsertOrders(principal, order);
    expect(taken).toMatchObject({
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
    const answer = await orderLive.request("GET", `${path}${order.id}`, { principal });
    expect(OrderLive.parse(await answer.json())).toEqual(taken);
  });

  it("keeps when it was created, and says when it changed", async () => {
    const { principal } = createPosPrincipal();
    const order = createLiveOrderInput();
    const [first] = await orderLive.upsertOrders(principal, order);
    const [second] = await orderLive.upsertOrders(principal, changeLiveOrderInput(order, { guestsCount: 5 }));
    expect(second?.createdAt).toBe(first?.createdAt);
    expect(Date.parse(second?.updatedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(first?.updatedAt ?? ""));
    expect(second?.data.guestsCount).toBe(5);
  });

  it("is known by the uuid alone when its id begins with an s", async () => {
    const { principal } = createPosPrincipal();
    const id = randomUUID();
    const [taken] = await orderLive.upsertOrders(principal, createLiveOrderInput({}, { id: `s${id.toUpperCase()}` }));
    expect(taken).toMatchObject({ id, data: { id } });
  });

  it("is skipped when its revision is the known one, or older", async () => {
    const { principal } = createPosPrincipal();
    const order = createLiveOrderInput({ modifiedAt: "2026-05-29T10:20:00.000Z" });
    expect(await orderLive.upsertOrders(principal, order)).toHaveLength(1);
    expect(await orderLive.upsertOrders(principal, { ...order, data: { ...order.data, guestsCount: 9 } })).toEqual([]);
    const late = changeLiveOrderInput(order, { modifiedAt: "2026-05-29T12:19:59.999+02:00" });
    expect(await orderLive.upsertOrders(principal, late)).toEqual([]);
    const sameTime = changeLiveOrderInput(order, { guestsCount: 3 });
    expect(await orderLive.upsertOrders(principal, sameTime)).toHaveLength(1);
    const timeless = changeLiveOrderInput(order, { modifiedAt: null, guestsCount: 4 });
    expect(await orderLive.upsertOrders(principal, timeless)).toHaveLength(1);
    // The time that was known is not forgotten by one who does not tell.
    expect(await orderLive.upsertOrders(principal, late)).toEqual([]);
    expect((await orderLive.listOrders(principal)).data[0]?.data.guestsCount).toBe(4);
  });

  it("comes with others, of which those that would change nothing are left out of the reply", async () => {
    const { principal } = createPosPrincipal();
    const [known, other, third] = [createLiveOrderInput(), createLiveOrderInput(), createLiveOrderInput()];
    await orderLive.upsertOrders(principal, known);
    const taken = await orderLive.upsertOrders(principal, other, known, third);
    expect(taken.map(({ id }) => id)).toEqual([other.id, third.id]);
    expect((await orderLive.listOrders(principal)).meta.totalCount).toBe(3);
  });

  it("is the location's own: another location has another order under the same id", async () => {
    const [mine, theirs] = [createPosPrincipal(), createPosPrincipal()];
    const order = createLiveOrderInput({ comment: "mine" });
    await orderLive.upsertOrders(mine.principal, order);
    const other = changeLiveOrderInput(order, { comment: "theirs" });
    const [taken] = await orderLive.upsertOrders(theirs.principal, other);
    expect(taken).toMatchObject({ locationId: theirs.locationId, data: { comment: "theirs" } });
    const read = async ({ principal }: typeof mine) => {
      const answer = await orderLive.request("GET", path + order.id, { principal });
      return OrderLive.parse(await answer.json()).data.comment;
    };
    expect(await Promise.all([mine, theirs].map(read))).toEqual(["mine", "theirs"]);
    expect(
      (await orderLive.publishedEvents(order.id)).map(({ locationId, sequence }) => [locationId, sequence]),
    ).toEqual([
      [mine.locationId, 1],
      [theirs.locationId, 1],
    ]);
  });

  it("belongs to the location that a key for any names, which must be there", async () => {
    const { id } = orderLive.accounts.addLocation();
    const { principal } = createPosPrincipal({ scopes: ["orders:write", "orders:read", "locations:any"] });
    const send = (locationId: string) => ["POST", `${path}?locationId=${locationId}`] as const;
    const order = createLiveOrderInput();
    const answer = await orderLive.request(...send(id), { principal, body: [order] });
    expect(await answer.json()).toMatchObject([{ locationId: id }]);
    const unknown = await orderLive.requestProblem(...send(randomUUID()), { principal, body: [order] });
    expect(unknown.code).toBe("location_not_found");
    const forbidden = await orderLive.requestProblem(...send(id), {
      principal: createPosPrincipal().principal,
      body: [order],
    });
    expect(forbidden.code).toBe("location_forbidden");
  });

  it("is taken once under one Idempotency-Key, and its stream hears of it when it is there", async () => {
    const { principal } = createPosPrincipal();
    const stream = await orderLive.openStream(principal);
    await stream.waitForEvents(1, "ready");
    const request = { principal, body: [createLiveOrderInput()], headers: { "idempotency-key": randomUUID() } };
    const first = await orderLive.request("POST", path, request);
    const again = await orderLive.request("POST", path, request);
    expect(await again.text()).toBe(await first.text());
    expect((await stream.waitForEvents(1, "order")).length).toBe(1);
    await stream.close();
  });
});

describe("the events of an order", () => {
  it("tell once of each turn, and count", async () => {
    const { principal, locationId } = createPosPrincipal();
    const opened = createLiveOrderInput();
    const withRow = changeLiveOrderInput(opened, {
      productRowList: [...opened.data.productRowList, createTestProductRow()],
    });
    const partlyPaid = changeLiveOrderInput(withRow, { leftToPay: 1000 });
    const paid = changeLiveOrderInput(partlyPaid, { isPaid: true, leftToPay: 0 });
    const printed = changeLiveOrderInput(paid, { postPaymentPrintCount: 1 });
    const reopened = changeLiveOrderInput(printed, { isPaid: false });
    const paidAgain = changeLiveOrderInput(reopened, { isPaid: true });
    for (const order of [opened, withRow, partlyPaid, paid, printed, reopened, paidAgain]) {
      expect(await orderLive.upsertOrders(principal, order)).toHaveLength(1);
    }
    const told = await orderLive.publishedEvents(opened.id);
    expect(told.map(({ type, sequence }) => [type, sequence])).toEqual([
      ["order.call", 1],
      ["order.call", 2],
      ["order.paid", 3],
      ["order.call", 4],
      ["order.paid", 5],
    ]);
    expect(told[2]?.order).toMatchObject({
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
  ])("are %j for an order that comes for the first time with %j", async (events, data) => {
    const { principal } = createPosPrincipal();
    const order = createLiveOrderInput(data);
    await orderLive.upsertOrders(principal, order);
    expect(await typesOf(order.id)).toEqual(events);
  });

  it("are none for products that are listed in another order", async () => {
    const { principal } = createPosPrincipal();
    const order = createLiveOrderInput({ productRowList: [createTestProductRow(), createTestProductRow()] });
    await orderLive.upsertOrders(principal, order);
    await orderLive.upsertOrders(
      principal,
      changeLiveOrderInput(order, { productRowList: [...order.data.productRowList].reverse() }),
    );
    expect(await typesOf(order.id)).toEqual(["order.call"]);
  });

  it("remember the 200 devices that were told of last", async () => {
    const { principal, locationId } = createPosPrincipal();
    const send = (first: number) =>
      orderLive.upsertOrders(
        principal,
        ...Array.from({ length: 50 }, (_, index) => createLiveOrderInput({ deviceIdentifier: `d${first + index}` })),
      );
    for (let first = 0; first < 250; first += 50) await send(first);
    const devices = await orderLive.db.sql`select id from devices where location_id = ${locationId}`;
    expect(devices.map(({ id }) => id).sort()).toEqual(
      Array.from({ length: 200 }, (_, index) => `d${50 + index}`).sort(),
    );
  });

  it("tell of the device at most once an hour, or when its name changes", async () => {
    const { principal, locationId } = createPosPrincipal();
    const [deviceIdentifier, other] = [randomUUID(), randomUUID()];
    const order = createLiveOrderInput({ deviceIdentifier, deviceName: "Bar" });
    await orderLive.upsertOrders(principal, order, createLiveOrderInput({ deviceIdentifier: other, deviceName: null }));
    await orderLive.upsertOrders(principal, changeLiveOrderInput(order, { guestsCount: 3 }));
    await orderLive.upsertOrders(principal, changeLiveOrderInput(order, { guestsCount: 4, deviceName: null }));
    await orderLive.upsertOrders(principal, changeLiveOrderInput(order, { guestsCount: 5, deviceName: "Terrasse" }));
    await orderLive.db.sql`update devices set told_at = told_at - interval '61 minutes'`;
    await orderLive.upsertOrders(principal, changeLiveOrderInput(order, { guestsCount: 6, deviceName: null }));
    const rows = await orderLive.db.sql<{ body: string }[]>`
      select body from written where type = 'device.seen' and location_id = ${locationId} order by position`;
    expect(rows.map(({ body }) => JSON.parse(body).data).map(({ deviceId, name }) => [deviceId, name])).toEqual([
      [deviceIdentifier, "Bar"],
      [other, null],
      [deviceIdentifier, "Terrasse"],
      [deviceIdentifier, "Terrasse"],
    ]);
  });
});

describe("an order made in school mode", () => {
  it("is answered and read by its id, and in no list and no stream", async () => {
    const { principal } = createPosPrincipal();
    const stream = await orderLive.openStream(principal);
    await stream.waitForEvents(1, "ready");
    const order = createLiveOrderInput({ isTraining: true });
    expect(await orderLive.upsertOrders(principal, order)).toHaveLength(1);
    expect((await orderLive.request("GET", path + order.id, { principal })).status).toBe(200);
    expect((await orderLive.listOrders(principal)).meta.totalCount).toBe(0);
    await orderLive.upsertOrders(principal, createLiveOrderInput());
    await stream.waitForEvents(1, "order");
    expect(stream.events.map(({ type }) => type)).toEqual(["ready", "order"]);
    await stream.close();
  });

  it("appears when it turns out to be real, and leaves when it turns out to be training", async () => {
    const { principal, locationId } = createPosPrincipal();
    const order = createLiveOrderInput({ isTraining: true });
    await orderLive.upsertOrders(principal, order);
    const stream = await orderLive.openStream(principal);
    await stream.waitForEvents(1, "ready");
    const real = changeLiveOrderInput(order, { isTraining: false });
    await orderLive.upsertOrders(principal, real);
    await orderLive.upsertOrders(principal, changeLiveOrderInput(real, { isTraining: true }));
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

describe("orders of megabytes", () => {
  const rows = Array.from({ length: 100 }, createTestProductRow);
  const orders = Array.from({ length: 20 }, () => createLiveOrderInput({ productRowList: rows }));
  const body = JSON.stringify(orders);
  const { principal, locationId } = createPosPrincipal();

  it("are taken, and told of, as small ones are", async () => {
    const taken = await orderLive.upsertOrders(principal, ...orders);
    expect(taken.map(({ data }) => data)).toEqual(orders.map(({ data }) => data));
    const [told] = await orderLive.publishedEvents(orders[0]?.id ?? "");
    const { data, ...record } = orders[0] ?? expect.unreachable();
    expect(told).toMatchObject({ type: "order.call", locationId, order: { ...data, ...record, locationId } });
    expect(Object.keys(told?.order ?? {})).not.toContain("createdAt");
  });

  it.each([
    ["are known", () => body, 200],
    ["have a fault", () => JSON.stringify([...orders, {}]), 400],
    ["break off", () => body.slice(0, -1), 400],
  ])("hold up no other request when they %s", async (_, given, status) => {
    const bytes = Buffer.from(given());
    const began = performance.now();
    for (const each of JSON.parse(body)) OrderLiveInput.safeParse(each);
    const readingMs = performance.now() - began;
    const send = async () => {
      expect((await orderLive.request("POST", path, { principal, body: bytes })).status).toBe(status);
    };
    // What else the process does may hold up one of them.
    const blocks = [
      await measureLongestEventLoopBlockMs(send),
      await measureLongestEventLoopBlockMs(send),
      await measureLongestEventLoopBlockMs(send),
    ];
    expect(Math.min(...blocks)).toBeLessThan(readingMs / 2);
  });
});
