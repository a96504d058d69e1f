import { randomUUID } from "node:crypto";
import { createLogger } from "@pragma/runtime/observability/logger";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { orderLiveConfig } from "./context.ts";
import { removeOldOrders } from "./periodic/remove-old-orders.ts";
import { changeLiveOrderInput, createLiveOrderInput } from "./testing/order-fixtures.ts";
import { createPosPrincipal, startTestOrderLive, type TestOrderLive } from "./testing/start-test-order-live.ts";

let orderLive: TestOrderLive;
beforeAll(async () => {
  orderLive = await startTestOrderLive();
});
afterAll(() => orderLive.remove());

const closedAt = "2026-05-29T15:05:00.000Z";
const later = "2026-05-29T15:05:00.001Z";
const eventTypesOf = async (id: string) => (await orderLive.publishedEvents(id)).map(({ type }) => type);

/** A location with a till that holds one of its two orders, closed. */
async function createClosedTill() {
  const shop = createPosPrincipal();
  const tillId = randomUUID();
  const [held, left] = [createLiveOrderInput({}, { tillId }), createLiveOrderInput({}, { tillId })];
  await orderLive.upsertOrders(shop.principal, held, left);
  await orderLive.finishTill({ locationId: shop.locationId, tillId, orderIds: [held.id] }, closedAt);
  return { ...shop, tillId, held, left };
}

describe("a till whose report is final", () => {
  it("takes its orders along: those that it holds, and those that name it", async () => {
    const { principal, locationId } = createPosPrincipal();
    const [tillId, otherTill] = [randomUUID(), randomUUID()];
    const named = createLiveOrderInput({}, { tillId });
    const held = createLiveOrderInput({ isPaid: true }, { tillId: otherTill });
    const stays = createLiveOrderInput({}, { tillId: otherTill });
    await orderLive.upsertOrders(principal, named, held, stays);
    const stream = await orderLive.openStream(principal);
    await stream.waitForEvents(1, "ready");
    await orderLive.finishTill({ locationId, tillId, orderIds: [held.id, randomUUID()] });
    const left = await stream.waitForEvents(2, "left");
    expect(left.map(({ data }) => data)).toEqual(
      expect.arrayContaining([
        { id: named.id, locationId, tillId, reason: "till" },
        { id: held.id, locationId, tillId: otherTill, reason: "till" },
      ]),
    );
    expect((await orderLive.listOrders(principal)).data.map(({ id }) => id)).toEqual([stays.id]);
    expect((await orderLive.listOrders(principal, "?isPaid=true")).meta.totalCount).toBe(0);
    const gone = await orderLive.requestProblem("GET", `/v1/orders-live/${held.id}`, { principal });
    expect(gone.code).toBe("order_not_found");
    await stream.close();
  });

  it("takes along nothing of another location", async () => {
    const mine = createPosPrincipal();
    const order = createLiveOrderInput();
    await orderLive.upsertOrders(mine.principal, order);
    await orderLive.finishTill({ locationId: randomUUID(), tillId: order.tillId, orderIds: [order.id] });
    expect((await orderLive.listOrders(mine.principal)).meta.totalCount).toBe(1);
  });

  it("takes a training order along without a word", async () => {
    const { principal, locationId } = createPosPrincipal();
    const training = createLiveOrderInput({ isTraining: true });
    const real = createLiveOrderInput({}, { tillId: training.tillId });
    await orderLive.upsertOrders(principal, training, real);
    const stream = await orderLive.openStream(principal);
    await stream.waitForEvents(1, "ready");
    await orderLive.finishTill({ locationId, tillId: training.tillId, orderIds: [real.id] });
    await stream.waitForEvents(1, "left");
    expect(stream.events.filter(({ type }) => type === "left")).toHaveLength(1);
    await orderLive.requestProblem("GET", `/v1/orders-live/${training.id}`, { principal });
    await stream.close();
  });

  it("changes nothing when it is finalized again", async () => {
    const { principal, locationId, tillId, held } = await createClosedTill();
    await orderLive.finishTill({ locationId, tillId, orderIds: [held.id, randomUUID()] });
    expect((await orderLive.listOrders(principal)).meta.totalCount).toBe(0);
    const remembered = await orderLive.db.sql`select id from orders where location_id = ${locationId}`;
    expect(remembered).toHaveLength(2);
  });
});

describe("an order that left with its till", () => {
  it("is not revived by an upsert that names the till, nor by one from before the till was closed", async () => {
    const { principal, tillId, held } = await createClosedTill();
    const tillIds = [tillId, randomUUID()];
    for (const modifiedAt of [null, closedAt]) {
      for (const at of tillIds) {
        expect(
          await orderLive.upsertOrders(principal, { ...changeLiveOrderInput(held, { modifiedAt }), tillId: at }),
        ).toEqual([]);
      }
    }
    const late = { ...changeLiveOrderInput(held, { modifiedAt: later }), tillId };
    expect(await orderLive.upsertOrders(principal, late)).toEqual([]);
    expect((await orderLive.listOrders(principal)).meta.totalCount).toBe(0);
  });

  it("comes back when it changes under another till after the close, and its events go on", async () => {
    const { principal, held } = await createClosedTill();
    const back = { ...changeLiveOrderInput(held, { modifiedAt: later, isPaid: true }), tillId: randomUUID() };
    expect(await orderLive.upsertOrders(principal, back)).toHaveLength(1);
    expect((await orderLive.listOrders(principal)).meta.totalCount).toBe(1);
    expect((await orderLive.publishedEvents(held.id)).map(({ type, sequence }) => [type, sequence])).toEqual([
      ["order.call", 1],
      ["order.paid", 2],
    ]);
  });

  it("comes back when it is carried over to another till without having been in the one that was closed", async () => {
    const { principal, tillId, left } = await createClosedTill();
    expect(await orderLive.upsertOrders(principal, changeLiveOrderInput(left, { guestsCount: 3 }))).toEqual([]);
    const carried = { ...left, tillId: randomUUID() };
    expect(await orderLive.upsertOrders(principal, carried)).toHaveLength(1);
    expect(await eventTypesOf(left.id)).toEqual(["order.call"]);
    expect(await orderLive.upsertOrders(principal, { ...changeLiveOrderInput(carried, {}), tillId })).toEqual([]);
  });

  it("does not become live for the first time after its till was closed", async () => {
    const { principal, locationId } = createPosPrincipal();
    const [named, held] = [createLiveOrderInput({ modifiedAt: later }), createLiveOrderInput({ modifiedAt: closedAt })];
    await orderLive.finishTill({ locationId, tillId: named.tillId, orderIds: [held.id] }, closedAt);
    expect(await orderLive.upsertOrders(principal, named, held)).toEqual([]);
    const elsewhere = { ...held, revisionHash: "2", data: { ...held.data, modifiedAt: later } };
    expect(await orderLive.upsertOrders(principal, elsewhere)).toHaveLength(1);
  });
});

describe("what is forgotten", () => {
  const run = () =>
    removeOldOrders.run({
      db: orderLive.db,
      broadcaster: orderLive.broadcaster,
      log: createLogger({ name: "test", level: "silent" }),
      config: orderLiveConfig.parse({}),
    });
  const age = (locationId: string, column: "leftAt" | "updatedAt", days: number) => {
    const { sql } = orderLive.db;
    return sql`
      update orders set ${sql(column)} = now() - make_interval(days => ${days}) where location_id = ${locationId}`;
  };

  it("is an order that left more than a month ago", async () => {
    const { locationId } = await createClosedTill();
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
    const { locationId, tillId, held, principal } = await createClosedTill();
    const { sql } = orderLive.db;
    const finished = (days: number) => sql`
      update final_tills set finished_at = now() - make_interval(days => ${days}) where location_id = ${locationId}`;
    await finished(29);
    await run();
    expect(await sql`select from final_tills where location_id = ${locationId}`).toHaveLength(1);
    await Promise.all([finished(31), age(locationId, "leftAt", 31)]);
    await run();
    expect(await sql`select from final_tills where location_id = ${locationId}`).toHaveLength(0);
    await orderLive.finishTill({ locationId, tillId, orderIds: [held.id], revision: 2 }, closedAt);
    expect(await sql`select from orders where location_id = ${locationId}`).toHaveLength(0);
    expect(await orderLive.upsertOrders(principal, held)).toEqual([]);
  });

  it("is a live order that nobody changed for a month: it leaves, and may come again", async () => {
    const { principal, locationId } = createPosPrincipal();
    const order = createLiveOrderInput();
    await orderLive.upsertOrders(principal, order, createLiveOrderInput({ isTraining: true }));
    const stream = await orderLive.openStream(principal);
    await stream.waitForEvents(1, "ready");
    await age(locationId, "updatedAt", 31);
    await run();
    const [left] = await stream.waitForEvents(1, "left");
    expect(left?.data).toEqual({ id: order.id, locationId, tillId: order.tillId, reason: "forgotten" });
    expect((await orderLive.listOrders(principal)).meta.totalCount).toBe(0);
    expect(await orderLive.upsertOrders(principal, order)).toHaveLength(1);
    await stream.close();
  });
});
