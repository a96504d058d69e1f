import { randomUUID } from "node:crypto";
import { createLogger } from "@pragma/runtime/logger";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { orderLiveConfig } from "./order-live.ts";
import { forgetOrders } from "./periodic/forget-past.ts";
import { changed, makeOrder } from "./testing/make-order.ts";
import { posKey, startOrderLive, type TestOrderLive } from "./testing/start-order-live.ts";

let orderLive: TestOrderLive;
beforeAll(async () => {
  orderLive = await startOrderLive();
});
afterAll(() => orderLive.remove());

const closedAt = "2026-05-29T15:05:00.000Z";
const later = "2026-05-29T15:05:00.001Z";
const typesOf = async (id: string) => (await orderLive.told(id)).map(({ type }) => type);

/** A location with a till that holds one of its two orders, closed. */
async function closedTill() {
  const shop = posKey();
  const tillId = randomUUID();
  const [held, left] = [makeOrder({}, { tillId }), makeOrder({}, { tillId })];
  await orderLive.upsert(shop.principal, held, left);
  await orderLive.finish({ locationId: shop.locationId, tillId, orderIds: [held.id] }, closedAt);
  return { ...shop, tillId, held, left };
}

describe("a till whose report is final", () => {
  it("takes its orders along: those that it holds, and those that name it", async () => {
    const { principal, locationId } = posKey();
    const [tillId, otherTill] = [randomUUID(), randomUUID()];
    const named = makeOrder({}, { tillId });
    const held = makeOrder({ isPaid: true }, { tillId: otherTill });
    const stays = makeOrder({}, { tillId: otherTill });
    await orderLive.upsert(principal, named, held, stays);
    const stream = await orderLive.stream(principal);
    await stream.received(1, "ready");
    await orderLive.finish({ locationId, tillId, orderIds: [held.id, randomUUID()] });
    const left = await stream.received(2, "left");
    expect(left.map(({ data }) => data)).toEqual(
      expect.arrayContaining([
        { id: named.id, locationId, tillId, reason: "till" },
        { id: held.id, locationId, tillId: otherTill, reason: "till" },
      ]),
    );
    expect((await orderLive.list(principal)).data.map(({ id }) => id)).toEqual([stays.id]);
    expect((await orderLive.list(principal, "?isPaid=true")).meta.totalCount).toBe(0);
    const gone = await orderLive.refusal("GET", `/v1/orders-live/${held.id}`, { principal });
    expect(gone.code).toBe("order_not_found");
    await stream.close();
  });

  it("takes along nothing of another location", async () => {
    const mine = posKey();
    const order = makeOrder();
    await orderLive.upsert(mine.principal, order);
    await orderLive.finish({ locationId: randomUUID(), tillId: order.tillId, orderIds: [order.id] });
    expect((await orderLive.list(mine.principal)).meta.totalCount).toBe(1);
  });

  it("takes a training order along without a word", async () => {
    const { principal, locationId } = posKey();
    const training = makeOrder({ isTraining: true });
    const real = makeOrder({}, { tillId: training.tillId });
    await orderLive.upsert(principal, training, real);
    const stream = await orderLive.stream(principal);
    await stream.received(1, "ready");
    await orderLive.finish({ locationId, tillId: training.tillId, orderIds: [real.id] });
    await stream.received(1, "left");
    expect(stream.events.filter(({ type }) => type === "left")).toHaveLength(1);
    await orderLive.refusal("GET", `/v1/orders-live/${training.id}`, { principal });
    await stream.close();
  });

  it("changes nothing when it is finalized again", async () => {
    const { principal, locationId, tillId, held } = await closedTill();
    await orderLive.finish({ locationId, tillId, orderIds: [held.id, randomUUID()] });
    expect((await orderLive.list(principal)).meta.totalCount).toBe(0);
    const remembered = await orderLive.db.sql`select id from orders where location_id = ${locationId}`;
    expect(remembered).toHaveLength(2);
  });
});

describe("an order that left with its till", () => {
  it("is not revived by an upsert that names the till, nor by one from before the till was closed", async () => {
    const { principal, tillId, held } = await closedTill();
    const tillIds = [tillId, randomUUID()];
    for (const modifiedAt of [null, closedAt]) {
      for (const at of tillIds) {
        expect(await orderLive.upsert(principal, { ...changed(held, { modifiedAt }), tillId: at })).toEqual([]);
      }
    }
    const late = { ...changed(held, { modifiedAt: later }), tillId };
    expect(await orderLive.upsert(principal, late)).toEqual([]);
    expect((await orderLive.list(principal)).meta.totalCount).toBe(0);
  });

  it("comes back when it changes under another till after the close, and its events go on", async () => {
    const { principal, held } = await closedTill();
    const back = { ...changed(held, { modifiedAt: later, isPaid: true }), tillId: randomUUID() };
    expect(await orderLive.upsert(principal, back)).toHaveLength(1);
    expect((await orderLive.list(principal)).meta.totalCount).toBe(1);
    expect((await orderLive.told(held.id)).map(({ type, sequence }) => [type, sequence])).toEqual([
      ["order.call", 1],
      ["order.paid", 2],
    ]);
  });

  it("comes back when it is carried over to another till without having been in the one that was closed", async () => {
    const { principal, tillId, left } = await closedTill();
    expect(await orderLive.upsert(principal, changed(left, { guestsCount: 3 }))).toEqual([]);
    const carried = { ...left, tillId: randomUUID() };
    expect(await orderLive.upsert(principal, carried)).toHaveLength(1);
    expect(await typesOf(left.id)).toEqual(["order.call"]);
    expect(await orderLive.upsert(principal, { ...changed(carried, {}), tillId })).toEqual([]);
  });

  it("does not become live for the first time after its till was closed", async () => {
    const { principal, locationId } = posKey();
    const [named, held] = [makeOrder({ modifiedAt: later }), makeOrder({ modifiedAt: closedAt })];
    await orderLive.finish({ locationId, tillId: named.tillId, orderIds: [held.id] }, closedAt);
    expect(await orderLive.upsert(principal, named, held)).toEqual([]);
    const elsewhere = { ...held, revisionHash: "2", data: { ...held.data, modifiedAt: later } };
    expect(await orderLive.upsert(principal, elsewhere)).toHaveLength(1);
  });
});

describe("what is forgotten", () => {
  const run = () =>
    forgetOrders.run({
      db: orderLive.db,
      hub: orderLive.hub,
      log: createLogger({ name: "test", level: "silent" }),
      config: orderLiveConfig.parse({}),
    });
  const age = (locationId: string, column: "leftAt" | "updatedAt", days: number) => {
    const { sql } = orderLive.db;
    return sql`
      update orders set ${sql(column)} = now() - make_interval(days => ${days}) where location_id = ${locationId}`;
  };

  it("is an order that left more than a month ago", async () => {
    const { locationId } = await closedTill();
    const remembered = async () =>
      (await orderLive.db.sql`select id from orders where location_id = ${locationId}`).length;
    await age(locationId, "leftAt", 29);
    await run();
    expect(await remembered()).toBe(2);
    await age(locationId, "leftAt", 31);
    await run();
    expect(await remembered()).toBe(0);
  });

  it("is a till that was finished more than a month ago: calculated again, its orders are not remembered anew", async () => {
    const { locationId, tillId, held, principal } = await closedTill();
    const { sql } = orderLive.db;
    const finished = (days: number) => sql`
      update final_tills set finished_at = now() - make_interval(days => ${days}) where location_id = ${locationId}`;
    await finished(29);
    await run();
    expect(await sql`select from final_tills where location_id = ${locationId}`).toHaveLength(1);
    await Promise.all([finished(31), age(locationId, "leftAt", 31)]);
    await run();
    expect(await sql`select from final_tills where location_id = ${locationId}`).toHaveLength(0);
    await orderLive.finish({ locationId, tillId, orderIds: [held.id], revision: 2 }, closedAt);
    expect(await sql`select from orders where location_id = ${locationId}`).toHaveLength(0);
    expect(await orderLive.upsert(principal, held)).toEqual([]);
  });

  it("is a live order that nobody changed for a month: it leaves, and may come again", async () => {
    const { principal, locationId } = posKey();
    const order = makeOrder();
    await orderLive.upsert(principal, order, makeOrder({ isTraining: true }));
    const stream = await orderLive.stream(principal);
    await stream.received(1, "ready");
    await age(locationId, "updatedAt", 31);
    await run();
    const [left] = await stream.received(1, "left");
    expect(left?.data).toEqual({ id: order.id, locationId, tillId: order.tillId, reason: "forgotten" });
    expect((await orderLive.list(principal)).meta.totalCount).toBe(0);
    expect(await orderLive.upsert(principal, order)).toHaveLength(1);
    await stream.close();
  });
});
