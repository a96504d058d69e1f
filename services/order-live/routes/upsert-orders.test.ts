import { randomUUID } from "node:crypto";
import { OrderLive, OrderLiveInput } from "@pragma/contracts/order-live";
import { longestBlock } from "@pragma/runtime/testing/longest-block";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { changed, makeOrder, makeRow } from "../testing/make-order.ts";
import { posKey, startOrderLive, type TestOrderLive } from "../testing/start-order-live.ts";

let orderLive: TestOrderLive;
beforeAll(async () => {
  orderLive = await startOrderLive();
});
afterAll(() => orderLive.remove());

const path = "/v1/orders-live/";
const typesOf = async (id: string) => (await orderLive.told(id)).map(({ type }) => type);

describe("an order that is sent", () => {
  it("is answered whole, with the times at which it came, and read so by its id", async () => {
    const { principal, locationId } = posKey();
    const order = makeOrder({ roomName: "Terrasse", channel: "phone" }, { customFooter: "Merci" });
    const [taken] = await orderLive.upsert(principal, order);
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
    const answer = await orderLive.ask("GET", `${path}${order.id}`, { principal });
    expect(OrderLive.parse(await answer.json())).toEqual(taken);
  });

  it("keeps when it was created, and says when it changed", async () => {
    const { principal } = posKey();
    const order = makeOrder();
    const [first] = await orderLive.upsert(principal, order);
    const [second] = await orderLive.upsert(principal, changed(order, { guestsCount: 5 }));
    expect(second?.createdAt).toBe(first?.createdAt);
    expect(Date.parse(second?.updatedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(first?.updatedAt ?? ""));
    expect(second?.data.guestsCount).toBe(5);
  });

  it("is known by the uuid alone when its id begins with an s", async () => {
    const { principal } = posKey();
    const id = randomUUID();
    const [taken] = await orderLive.upsert(principal, makeOrder({}, { id: `s${id.toUpperCase()}` }));
    expect(taken).toMatchObject({ id, data: { id } });
  });

  it("is skipped when its revision is the known one, or older", async () => {
    const { principal } = posKey();
    const order = makeOrder({ modifiedAt: "2026-05-29T10:20:00.000Z" });
    expect(await orderLive.upsert(principal, order)).toHaveLength(1);
    expect(await orderLive.upsert(principal, { ...order, data: { ...order.data, guestsCount: 9 } })).toEqual([]);
    const late = changed(order, { modifiedAt: "2026-05-29T12:19:59.999+02:00" });
    expect(await orderLive.upsert(principal, late)).toEqual([]);
    const sameTime = changed(order, { guestsCount: 3 });
    expect(await orderLive.upsert(principal, sameTime)).toHaveLength(1);
    const timeless = changed(order, { modifiedAt: null, guestsCount: 4 });
    expect(await orderLive.upsert(principal, timeless)).toHaveLength(1);
    // The time that was known is not forgotten by one who does not tell.
    expect(await orderLive.upsert(principal, late)).toEqual([]);
    expect((await orderLive.list(principal)).data[0]?.data.guestsCount).toBe(4);
  });

  it("comes with others, of which those that would change nothing are left out of the reply", async () => {
    const { principal } = posKey();
    const [known, other, third] = [makeOrder(), makeOrder(), makeOrder()];
    await orderLive.upsert(principal, known);
    const taken = await orderLive.upsert(principal, other, known, third);
    expect(taken.map(({ id }) => id)).toEqual([other.id, third.id]);
    expect((await orderLive.list(principal)).meta.totalCount).toBe(3);
  });

  it("is the location's own: another location has another order under the same id", async () => {
    const [mine, theirs] = [posKey(), posKey()];
    const order = makeOrder({ comment: "mine" });
    await orderLive.upsert(mine.principal, order);
    const other = changed(order, { comment: "theirs" });
    const [taken] = await orderLive.upsert(theirs.principal, other);
    expect(taken).toMatchObject({ locationId: theirs.locationId, data: { comment: "theirs" } });
    const read = async ({ principal }: typeof mine) => {
      const answer = await orderLive.ask("GET", path + order.id, { principal });
      return OrderLive.parse(await answer.json()).data.comment;
    };
    expect(await Promise.all([mine, theirs].map(read))).toEqual(["mine", "theirs"]);
    expect((await orderLive.told(order.id)).map(({ locationId, sequence }) => [locationId, sequence])).toEqual([
      [mine.locationId, 1],
      [theirs.locationId, 1],
    ]);
  });

  it("belongs to the location that a key for any names, which must be there", async () => {
    const { id } = orderLive.accounts.know();
    const { principal } = posKey({ scopes: ["orders:write", "orders:read", "locations:any"] });
    const send = (locationId: string) => ["POST", `${path}?locationId=${locationId}`] as const;
    const order = makeOrder();
    const answer = await orderLive.ask(...send(id), { principal, body: [order] });
    expect(await answer.json()).toMatchObject([{ locationId: id }]);
    const unknown = await orderLive.refusal(...send(randomUUID()), { principal, body: [order] });
    expect(unknown.code).toBe("location_not_found");
    const forbidden = await orderLive.refusal(...send(id), { principal: posKey().principal, body: [order] });
    expect(forbidden.code).toBe("location_forbidden");
  });

  it("is taken once under one Idempotency-Key, and its stream hears of it when it is there", async () => {
    const { principal } = posKey();
    const stream = await orderLive.stream(principal);
    await stream.received(1, "ready");
    const request = { principal, body: [makeOrder()], headers: { "idempotency-key": randomUUID() } };
    const first = await orderLive.ask("POST", path, request);
    const again = await orderLive.ask("POST", path, request);
    expect(await again.text()).toBe(await first.text());
    expect((await stream.received(1, "order")).length).toBe(1);
    await stream.close();
  });
});

describe("the events of an order", () => {
  it("tell once of each turn, and count", async () => {
    const { principal, locationId } = posKey();
    const opened = makeOrder();
    const withRow = changed(opened, { productRowList: [...opened.data.productRowList, makeRow()] });
    const partlyPaid = changed(withRow, { leftToPay: 1000 });
    const paid = changed(partlyPaid, { isPaid: true, leftToPay: 0 });
    const printed = changed(paid, { postPaymentPrintCount: 1 });
    const reopened = changed(printed, { isPaid: false });
    const paidAgain = changed(reopened, { isPaid: true });
    for (const order of [opened, withRow, partlyPaid, paid, printed, reopened, paidAgain]) {
      expect(await orderLive.upsert(principal, order)).toHaveLength(1);
    }
    const told = await orderLive.told(opened.id);
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
    const { principal } = posKey();
    const order = makeOrder(data);
    await orderLive.upsert(principal, order);
    expect(await typesOf(order.id)).toEqual(events);
  });

  it("are none for products that are listed in another order", async () => {
    const { principal } = posKey();
    const order = makeOrder({ productRowList: [makeRow(), makeRow()] });
    await orderLive.upsert(principal, order);
    await orderLive.upsert(principal, changed(order, { productRowList: [...order.data.productRowList].reverse() }));
    expect(await typesOf(order.id)).toEqual(["order.call"]);
  });

  it("remember the 200 devices that were told of last", async () => {
    const { principal, locationId } = posKey();
    const send = (first: number) =>
      orderLive.upsert(
        principal,
        ...Array.from({ length: 50 }, (_, index) => makeOrder({ deviceIdentifier: `d${first + index}` })),
      );
    for (let first = 0; first < 250; first += 50) await send(first);
    const devices = await orderLive.db.sql`select id from devices where location_id = ${locationId}`;
    expect(devices.map(({ id }) => id).sort()).toEqual(
      Array.from({ length: 200 }, (_, index) => `d${50 + index}`).sort(),
    );
  });

  it("tell of the device at most once an hour, or when its name changes", async () => {
    const { principal, locationId } = posKey();
    const [deviceIdentifier, other] = [randomUUID(), randomUUID()];
    const order = makeOrder({ deviceIdentifier, deviceName: "Bar" });
    await orderLive.upsert(principal, order, makeOrder({ deviceIdentifier: other, deviceName: null }));
    await orderLive.upsert(principal, changed(order, { guestsCount: 3 }));
    await orderLive.upsert(principal, changed(order, { guestsCount: 4, deviceName: null }));
    await orderLive.upsert(principal, changed(order, { guestsCount: 5, deviceName: "Terrasse" }));
    await orderLive.db.sql`update devices set told_at = told_at - interval '61 minutes'`;
    await orderLive.upsert(principal, changed(order, { guestsCount: 6, deviceName: null }));
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
    const { principal } = posKey();
    const stream = await orderLive.stream(principal);
    await stream.received(1, "ready");
    const order = makeOrder({ isTraining: true });
    expect(await orderLive.upsert(principal, order)).toHaveLength(1);
    expect((await orderLive.ask("GET", path + order.id, { principal })).status).toBe(200);
    expect((await orderLive.list(principal)).meta.totalCount).toBe(0);
    await orderLive.upsert(principal, makeOrder());
    await stream.received(1, "order");
    expect(stream.events.map(({ type }) => type)).toEqual(["ready", "order"]);
    await stream.close();
  });

  it("appears when it turns out to be real, and leaves when it turns out to be training", async () => {
    const { principal, locationId } = posKey();
    const order = makeOrder({ isTraining: true });
    await orderLive.upsert(principal, order);
    const stream = await orderLive.stream(principal);
    await stream.received(1, "ready");
    const real = changed(order, { isTraining: false });
    await orderLive.upsert(principal, real);
    await orderLive.upsert(principal, changed(real, { isTraining: true }));
    const [, appeared, left] = await stream.received(3);
    expect(appeared).toMatchObject({ type: "order", data: { id: order.id } });
    expect(left).toMatchObject({
      type: "left",
      data: { id: order.id, locationId, tillId: order.tillId, reason: "training" },
    });
    expect((await orderLive.list(principal)).meta.totalCount).toBe(0);
    expect(await typesOf(order.id)).toEqual(["order.call"]);
    await stream.close();
  });
});

describe("orders of megabytes", () => {
  const rows = Array.from({ length: 100 }, makeRow);
  const orders = Array.from({ length: 20 }, () => makeOrder({ productRowList: rows }));
  const body = JSON.stringify(orders);
  const { principal, locationId } = posKey();

  it("are taken, and told of, as small ones are", async () => {
    const taken = await orderLive.upsert(principal, ...orders);
    expect(taken.map(({ data }) => data)).toEqual(orders.map(({ data }) => data));
    const [told] = await orderLive.told(orders[0]?.id ?? "");
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
      expect((await orderLive.ask("POST", path, { principal, body: bytes })).status).toBe(status);
    };
    // What else the process does may hold up one of them.
    const blocks = [await longestBlock(send), await longestBlock(send), await longestBlock(send)];
    expect(Math.min(...blocks)).toBeLessThan(readingMs / 2);
  });
});
