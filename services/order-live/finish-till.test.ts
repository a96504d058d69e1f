import { randomUUID } from "node:crypto";
import { createLogger } from "@pragma/runtime/observability/logger";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { orderLiveServiceConfigSchema } from "./config.ts";
import { removeOldLiveOrdersTask } from "./periodic/remove-old-orders.ts";
import { createChangedTestLiveOrder, createTestLiveOrderInput } from "./testing/order-fixtures.ts";
import {
  buildTestPosPrincipalAndLocation,
  startTestOrderLiveService,
  type TestOrderLiveService,
} from "./testing/start-test-order-live.ts";

let orderLive: TestOrderLiveService;
beforeAll(async () => {
  orderLive = await startTestOrderLiveService();
});
afterAll(() => orderLive.remove());

const closedAt = "2026-05-29T15:05:00.000Z";
const afterClose = "2026-05-29T15:05:00.001Z";
const eventTypesOf = async (id: string) => (await orderLive.publishedEvents(id)).map(({ type }) => type);

/** Counts the rows of a location in the tables of the service, without those of the events that the test publishes. */
async function countRowsOfLocation(locationId: string): Promise<number> {
  const { sql, schema } = orderLive.db;
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.columns
    join information_schema.tables using (table_schema, table_name)
    where table_schema = ${schema} and column_name = 'location_id' and table_type = 'BASE TABLE'
      and table_name not like '%outbox%' and table_name not like 'sent_events%'`;
  const counts = await Promise.all(
    tables.map(async ({ name }) => {
      const [row] = await sql<[{ count: number }]>`
        select count(*)::int as count from ${sql(name)} where location_id = ${locationId}`;
      return row.count;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Creates a location with a closed till whose report contains one of its two orders. */
async function createClosedTill() {
  const pos = buildTestPosPrincipalAndLocation();
  const tillId = randomUUID();
  const [reported, unreported] = [createTestLiveOrderInput({}, { tillId }), createTestLiveOrderInput({}, { tillId })];
  await orderLive.upsertOrders(pos.principal, reported, unreported);
  await orderLive.finishTill({ locationId: pos.locationId, tillId, orderIds: [reported.id] }, closedAt);
  return { ...pos, tillId, reported, unreported };
}

describe("a till with a final report", () => {
  it("removes the orders that it contains and the orders that name it from the live orders", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const [tillId, otherTill] = [randomUUID(), randomUUID()];
    const named = createTestLiveOrderInput({}, { tillId });
    const reported = createTestLiveOrderInput({ isPaid: true }, { tillId: otherTill });
    const remaining = createTestLiveOrderInput({}, { tillId: otherTill });
    await orderLive.upsertOrders(principal, named, reported, remaining);
    const stream = await orderLive.openStream(principal);
    await stream.waitForEvents(1, "ready");
    await orderLive.finishTill({ locationId, tillId, orderIds: [reported.id, randomUUID()] });
    const left = await stream.waitForEvents(2, "left");
    expect(left.map(({ data }) => data)).toEqual(
      expect.arrayContaining([
        { id: named.id, locationId, tillId, reason: "till" },
        { id: reported.id, locationId, tillId: otherTill, reason: "till" },
      ]),
    );
    expect((await orderLive.listOrders(principal)).data.map(({ id }) => id)).toEqual([remaining.id]);
    expect((await orderLive.listOrders(principal, "?isPaid=true")).meta.totalCount).toBe(0);
    const problem = await orderLive.requestProblem({
      method: "GET",
      path: `/v1/orders-live/${reported.id}`,
      principal,
    });
    expect(problem.code).toBe("order_not_found");
    await stream.close();
  });

  it("is stored in one row if none of its 150 orders was live", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    await orderLive.finishTill({ locationId, tillId: randomUUID(), orderIds: [] });
    const orderIds = Array.from({ length: 150 }, () => randomUUID());
    const tillId = randomUUID();
    const rowsBefore = await countRowsOfLocation(locationId);
    await orderLive.finishTill({ locationId, tillId, orderIds }, closedAt);
    expect((await countRowsOfLocation(locationId)) - rowsBefore).toBe(1);
    const [finalTill] = await orderLive.db.sql`
      select finished_at, closed_at, cardinality(never_live_order_ids) as order_count from final_tills
      where location_id = ${locationId} and till_id = ${tillId}`;
    expect(finalTill).toEqual({ finishedAt: expect.any(Date), closedAt, orderCount: 150 });
    const late = orderIds.slice(0, 50).map((id) => createTestLiveOrderInput({ modifiedAt: closedAt }, { id }));
    expect(await orderLive.upsertOrders(principal, ...late)).toEqual([]);
  });

  it("remembers the orders that were not live, in addition to those that were", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const [live, neverLive] = [createTestLiveOrderInput(), createTestLiveOrderInput({ modifiedAt: closedAt })];
    await orderLive.upsertOrders(principal, live);
    await orderLive.finishTill({ locationId, tillId: live.tillId, orderIds: [live.id, neverLive.id] }, closedAt);
    const [finalTill] = await orderLive.db.sql`
      select never_live_order_ids from final_tills where location_id = ${locationId}`;
    expect(finalTill?.neverLiveOrderIds).toEqual([neverLive.id]);
    const lateInOtherTill = { ...createChangedTestLiveOrder(live, { modifiedAt: closedAt }), tillId: neverLive.tillId };
    expect(await orderLive.upsertOrders(principal, lateInOtherTill, neverLive)).toEqual([]);
  });

  it("does not affect another location", async () => {
    const { principal } = buildTestPosPrincipalAndLocation();
    const order = createTestLiveOrderInput();
    await orderLive.upsertOrders(principal, order);
    await orderLive.finishTill({ locationId: randomUUID(), tillId: order.tillId, orderIds: [order.id] });
    expect((await orderLive.listOrders(principal)).meta.totalCount).toBe(1);
  });

  it("removes a training order without an event", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const training = createTestLiveOrderInput({ isTraining: true });
    const real = createTestLiveOrderInput({}, { tillId: training.tillId });
    await orderLive.upsertOrders(principal, training, real);
    const stream = await orderLive.openStream(principal);
    await stream.waitForEvents(1, "ready");
    await orderLive.finishTill({ locationId, tillId: training.tillId, orderIds: [real.id] });
    await stream.waitForEvents(1, "left");
    expect(stream.events.filter(({ type }) => type === "left")).toHaveLength(1);
    await orderLive.requestProblem({ method: "GET", path: `/v1/orders-live/${training.id}`, principal });
    await stream.close();
  });

  it("changes nothing when it is finalized a second time", async () => {
    const { principal, locationId, tillId, reported } = await createClosedTill();
    await orderLive.finishTill({ locationId, tillId, orderIds: [reported.id, randomUUID()] });
    expect((await orderLive.listOrders(principal)).meta.totalCount).toBe(0);
    const { sql } = orderLive.db;
    expect(await sql`select from live_orders where location_id = ${locationId}`).toHaveLength(2);
    expect(await sql`select never_live_order_ids from final_tills where location_id = ${locationId}`).toEqual([
      { neverLiveOrderIds: null },
    ]);
  });
});

describe("an order that is no longer live because its till was closed", () => {
  it("is not made live by an upsert of the same till or from before the close", async () => {
    const { principal, tillId, reported } = await createClosedTill();
    const upsertTillIds = [tillId, randomUUID()];
    for (const modifiedAt of [null, closedAt]) {
      for (const upsertTillId of upsertTillIds) {
        expect(
          await orderLive.upsertOrders(principal, {
            ...createChangedTestLiveOrder(reported, { modifiedAt }),
            tillId: upsertTillId,
          }),
        ).toEqual([]);
      }
    }
    const late = { ...createChangedTestLiveOrder(reported, { modifiedAt: afterClose }), tillId };
    expect(await orderLive.upsertOrders(principal, late)).toEqual([]);
    expect((await orderLive.listOrders(principal)).meta.totalCount).toBe(0);
  });

  it("becomes live by a later change under another till and continues its event sequence", async () => {
    const { principal, reported } = await createClosedTill();
    const reopened = {
      ...createChangedTestLiveOrder(reported, { modifiedAt: afterClose, isPaid: true }),
      tillId: randomUUID(),
    };
    expect(await orderLive.upsertOrders(principal, reopened)).toHaveLength(1);
    expect((await orderLive.listOrders(principal)).meta.totalCount).toBe(1);
    expect((await orderLive.publishedEvents(reported.id)).map(({ type, sequence }) => [type, sequence])).toEqual([
      ["order.call", 1],
      ["order.paid", 2],
    ]);
  });

  it("becomes live under another till if the report of the closed till does not contain it", async () => {
    const { principal, tillId, unreported } = await createClosedTill();
    expect(await orderLive.upsertOrders(principal, createChangedTestLiveOrder(unreported, { guestsCount: 3 }))).toEqual(
      [],
    );
    const carriedOver = { ...unreported, tillId: randomUUID() };
    expect(await orderLive.upsertOrders(principal, carriedOver)).toHaveLength(1);
    expect(await eventTypesOf(unreported.id)).toEqual(["order.call"]);
    expect(await orderLive.upsertOrders(principal, { ...createChangedTestLiveOrder(carriedOver, {}), tillId })).toEqual(
      [],
    );
  });

  it("is skipped when it first arrives after its till was closed", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const [named, reported] = [
      createTestLiveOrderInput({ modifiedAt: afterClose }),
      createTestLiveOrderInput({ modifiedAt: closedAt }),
    ];
    await orderLive.finishTill({ locationId, tillId: named.tillId, orderIds: [reported.id] }, closedAt);
    expect(await orderLive.upsertOrders(principal, named, reported)).toEqual([]);
    const inOtherTill = { ...reported, revisionHash: "2", data: { ...reported.data, modifiedAt: afterClose } };
    expect(await orderLive.upsertOrders(principal, inOtherTill)).toHaveLength(1);
  });
});

describe("a shift", () => {
  it("is published with its first live order, an earlier order, and its end, and not with other changes", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const tillId = randomUUID();
    // Half past midnight in Paris, and an hour before.
    const late = createTestLiveOrderInput({ openedAt: "2026-05-29T22:30:00.000Z" }, { tillId });
    const early = createTestLiveOrderInput({ openedAt: "2026-05-29T21:30:00.000Z", total: 700 }, { tillId });
    await orderLive.upsertOrders(principal, late);
    await orderLive.upsertOrders(principal, createChangedTestLiveOrder(late, { isPaid: true }));
    await orderLive.upsertOrders(principal, early);
    await orderLive.upsertOrders(principal, createTestLiveOrderInput({ openedAt: late.data.openedAt }, { tillId }));
    await orderLive.upsertOrders(principal, createTestLiveOrderInput({ isTraining: true }, { tillId: randomUUID() }));
    await orderLive.upsertOrders(principal, createChangedTestLiveOrder(early, { isCanceled: true }));
    expect(await orderLive.publishedShiftEvents(tillId)).toHaveLength(2);
    await orderLive.finishTill({ locationId, tillId, orderIds: [late.id] });
    const shift = { locationId, tillId, ordersWithoutTill: [], continuedOrderIds: [] };
    const published = await orderLive.publishedShiftEvents(tillId);
    expect(published).toMatchObject([
      { ...shift, position: 1, isOpen: true, startedAt: late.data.openedAt, day: "2026-05-30" },
      { ...shift, position: 3, isOpen: true, startedAt: early.data.openedAt, day: "2026-05-29" },
      { ...shift, position: 8, isOpen: false, startedAt: early.data.openedAt, ordersWithoutTill: expect.any(Array) },
    ]);
    expect(published[2]?.ordersWithoutTill).toHaveLength(2);
    expect(published[2]?.ordersWithoutTill[0]).toEqual({ orderId: early.id, total: 700, isCanceled: true });
  });

  it("states the orders that are live again after a till without them", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const order = createTestLiveOrderInput();
    await orderLive.upsertOrders(principal, order);
    await orderLive.finishTill({ locationId, tillId: order.tillId, orderIds: [] });
    const tillId = randomUUID();
    await orderLive.upsertOrders(principal, createTestLiveOrderInput({}, { tillId }));
    await orderLive.upsertOrders(principal, { ...createChangedTestLiveOrder(order, { leftToPay: 1 }), tillId });
    const events = await orderLive.publishedShiftEvents(tillId);
    expect(events.map(({ continuedOrderIds }) => continuedOrderIds)).toEqual([[], [order.id]]);
  });

  it("begins when an order of another shift continues in it, and ends when its last order leaves it", async () => {
    const { principal } = buildTestPosPrincipalAndLocation();
    const order = createTestLiveOrderInput({ openedAt: "2026-05-28T10:00:00.000Z" });
    await orderLive.upsertOrders(principal, order);
    const nextTillId = randomUUID();
    await orderLive.upsertOrders(principal, {
      ...createChangedTestLiveOrder(order, { isPaid: true }),
      tillId: nextTillId,
    });
    expect(await orderLive.publishedShiftEvents(order.tillId)).toMatchObject([{ isOpen: true }, { isOpen: false }]);
    const [next] = await orderLive.publishedShiftEvents(nextTillId);
    expect(next).toMatchObject({ isOpen: true });
    expect(Date.parse(next?.startedAt ?? "")).toBeGreaterThan(Date.now() - 60_000);
  });
});

describe("the removal of old orders", () => {
  const runRemoval = () =>
    removeOldLiveOrdersTask.run({
      db: orderLive.db,
      broadcaster: orderLive.broadcaster,
      log: createLogger({ name: "test", level: "silent" }),
      config: orderLiveServiceConfigSchema.parse({}),
    });
  const ageOrders = (locationId: string, column: "departedAt" | "updatedAt", days: number) => {
    const { sql } = orderLive.db;
    return sql`
      update live_orders set created_at = now() - make_interval(days => ${days}),
        ${sql(column)} = now() - make_interval(days => ${days})
      where location_id = ${locationId}`;
  };

  it("removes orders that have not been live for more than 30 days", async () => {
    const { locationId } = await createClosedTill();
    const countStoredOrders = async () =>
      (await orderLive.db.sql`select id from live_orders where location_id = ${locationId}`).length;
    await ageOrders(locationId, "departedAt", 29);
    await runRemoval();
    expect(await countStoredOrders()).toBe(2);
    await ageOrders(locationId, "departedAt", 31);
    await runRemoval();
    expect(await countStoredOrders()).toBe(0);
  });

  it("removes final tills after 30 days; reprocessing such a till does not store its orders again", async () => {
    const { locationId, tillId, reported, principal } = await createClosedTill();
    const { sql } = orderLive.db;
    const ageFinalTills = (days: number) => sql`
      update final_tills set finished_at = now() - make_interval(days => ${days}) where location_id = ${locationId}`;
    await ageFinalTills(29);
    await runRemoval();
    expect(await sql`select from final_tills where location_id = ${locationId}`).toHaveLength(1);
    await Promise.all([ageFinalTills(31), ageOrders(locationId, "departedAt", 31)]);
    await runRemoval();
    expect(await sql`select from final_tills where location_id = ${locationId}`).toHaveLength(0);
    await orderLive.finishTill({ locationId, tillId, orderIds: [reported.id], revision: 2 }, closedAt);
    expect(await sql`select from live_orders where location_id = ${locationId}`).toHaveLength(0);
    expect(await orderLive.upsertOrders(principal, reported)).toEqual([]);
  });

  it("removes live orders unchanged for 30 days, which a later upsert creates again", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const order = createTestLiveOrderInput();
    await orderLive.upsertOrders(principal, order, createTestLiveOrderInput({ isTraining: true }));
    const stream = await orderLive.openStream(principal);
    await stream.waitForEvents(1, "ready");
    await ageOrders(locationId, "updatedAt", 31);
    await runRemoval();
    const [left] = await stream.waitForEvents(1, "left");
    expect(left?.data).toEqual({ id: order.id, locationId, tillId: order.tillId, reason: "forgotten" });
    expect((await orderLive.listOrders(principal)).meta.totalCount).toBe(0);
    expect((await orderLive.publishedShiftEvents(order.tillId)).at(-1)).toMatchObject({
      ...{ isOpen: false, ordersWithoutTill: [{ orderId: order.id }] },
    });
    expect(await orderLive.upsertOrders(principal, order)).toHaveLength(1);
    await stream.close();
  });
});
