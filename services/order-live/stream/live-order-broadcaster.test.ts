import { randomUUID } from "node:crypto";
import { createLogger } from "@pragma/runtime/observability/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import { startServerSentEventReader } from "@pragma/runtime/testing/server-sent-event-reader";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createTestLiveOrderInput } from "../testing/order-fixtures.ts";
import {
  buildTestPosPrincipalAndLocation,
  startTestOrderLiveService,
  type TestOrderLiveService,
} from "../testing/start-test-order-live.ts";
import { createLiveOrderBroadcaster, type LiveOrderBroadcaster } from "./live-order-broadcaster.ts";

let orderLive: TestOrderLiveService;
beforeAll(async () => {
  orderLive = await startTestOrderLiveService();
});
afterAll(() => orderLive.remove());

/** Creates a broadcaster whose database queries are counted, in total and at the same time. */
function createCountingBroadcaster() {
  let count = 0;
  const atOnce = { now: 0, maximum: 0 };
  const { sql } = orderLive.db;
  const counting = new Proxy(sql, {
    apply(target, self, [first, ...rest]) {
      // Fragments are not counted, because they are only parts of queries.
      if (String(first).trim().startsWith("select") || String(first).trim().startsWith("with")) {
        count += 1;
        atOnce.now += 1;
        atOnce.maximum = Math.max(atOnce.maximum, atOnce.now);
        const query = Reflect.apply(target, self, [first, ...rest]);
        const end = () => (atOnce.now -= 1);
        query.then(end, end);
        return query;
      }
      return Reflect.apply(target, self, [first, ...rest]);
    },
  });
  const broadcaster = createLiveOrderBroadcaster({
    sql: counting,
    notifier: { publish() {}, subscribe() {} },
    log: createLogger({ name: "test", level: "silent" }),
    heartbeatMs: 60_000,
    stallTimeoutMs: 60_000,
  });
  return { broadcaster, queryCount: () => count, maxQueriesAtOnce: () => atOnce.maximum };
}

const openTestStream = async (
  broadcaster: LiveOrderBroadcaster,
  locationId: string,
  signal = new AbortController().signal,
) =>
  startServerSentEventReader(
    new Response(await broadcaster.openStream({ locationId, filter: {}, lastEventId: undefined, signal })),
  );

describe("the streams of a process", () => {
  it("of a location read three times at once when they open together", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const { broadcaster, maxQueriesAtOnce } = createCountingBroadcaster();
    await orderLive.upsertOrders(principal, createTestLiveOrderInput());
    const streams = await Promise.all(Array.from({ length: 100 }, () => openTestStream(broadcaster, locationId)));
    await Promise.all(streams.map((stream) => stream.waitForEvents(1, "ready")));
    // Beside them, a query may poll the stream positions.
    expect(maxQueriesAtOnce()).toBeLessThanOrEqual(4);
    broadcaster.close();
  });

  it("do not read for clients that left while they waited", async () => {
    const { locationId } = buildTestPosPrincipalAndLocation();
    const { broadcaster, queryCount } = createCountingBroadcaster();
    const clients = Array.from({ length: 100 }, () => new AbortController());
    const lastEventId = `${locationId}-0`;
    const opening = clients.map(({ signal }) =>
      broadcaster.openStream({ locationId, filter: {}, lastEventId, signal }),
    );
    for (const client of clients) client.abort();
    await Promise.all(opening);
    await eventually("the end of the streams", () => broadcaster.connectionCount === 0);
    // Three reads began before.
    expect(queryCount()).toBeLessThanOrEqual(3);
    broadcaster.close();
  });

  it("share one query among all connections that keep up", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const { broadcaster, queryCount } = createCountingBroadcaster();
    const streams = await Promise.all(Array.from({ length: 30 }, () => openTestStream(broadcaster, locationId)));
    await Promise.all(streams.map((stream) => stream.waitForEvents(1, "ready")));
    const before = queryCount();
    await orderLive.upsertOrders(principal, createTestLiveOrderInput());
    broadcaster.notify(locationId, 1);
    await Promise.all(streams.map((stream) => stream.waitForEvents(1, "order")));
    // One query reads the log, and a second query may poll the stream positions.
    expect(queryCount() - before).toBeLessThanOrEqual(2);
    broadcaster.close();
    await Promise.all(streams.map((stream) => stream.waitForEnd()));
  });

  it("leave no timers or queries behind when their clients disconnect", async () => {
    const { locationId } = buildTestPosPrincipalAndLocation();
    const { broadcaster, queryCount } = createCountingBroadcaster();
    const clearIntervalSpy = vi.spyOn(globalThis, "clearInterval");
    const disconnect = new AbortController();
    const streams = [
      await openTestStream(broadcaster, locationId),
      await openTestStream(broadcaster, locationId, disconnect.signal),
    ];
    expect(broadcaster.connectionCount).toBe(2);
    await streams[0]?.close();
    expect(broadcaster.connectionCount).toBe(1);
    disconnect.abort();
    expect(broadcaster.connectionCount).toBe(0);
    expect(clearIntervalSpy).toHaveBeenCalledTimes(2);
    clearIntervalSpy.mockRestore();
    const countBefore = queryCount();
    broadcaster.notify(locationId, 9);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(queryCount()).toBe(countBefore);
    broadcaster.close();
  });

  it("are not opened for a client that has already disconnected", async () => {
    const { broadcaster } = createCountingBroadcaster();
    const stream = await openTestStream(broadcaster, randomUUID(), AbortSignal.abort());
    await stream.waitForEnd();
    expect(broadcaster.connectionCount).toBe(0);
    broadcaster.close();
  });

  it("are limited to 500 per location", async () => {
    const { locationId } = buildTestPosPrincipalAndLocation();
    const { broadcaster } = createCountingBroadcaster();
    const openRawStream = () =>
      broadcaster.openStream({ locationId, filter: {}, lastEventId: "x", signal: new AbortController().signal });
    const bodies = await Promise.all(Array.from({ length: 500 }, openRawStream));
    await expect(openRawStream()).rejects.toMatchObject({ code: "too_many_streams" });
    await bodies[7]?.cancel();
    const another = await openRawStream();
    await Promise.all([...bodies, another].map((body) => body.cancel()));
    expect(broadcaster.connectionCount).toBe(0);
    broadcaster.close();
  }, 60_000);

  it("end if the log is unreadable at their start and survive a later outage of the log", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const { broadcaster } = createCountingBroadcaster();
    const stream = await openTestStream(broadcaster, locationId);
    await stream.waitForEvents(1, "ready");
    await orderLive.db.sql`alter table order_revisions rename to renamed_order_revisions`;
    await orderLive.db.sql`update location_streams set position = 0`;
    const failedStream = await openTestStream(broadcaster, locationId);
    await failedStream.waitForEnd();
    expect(failedStream.events.at(-1)).toMatchObject({ type: "closed", data: { reason: "unavailable" } });
    broadcaster.notify(locationId, 1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(stream.ending).toBeUndefined();
    await orderLive.db.sql`alter table renamed_order_revisions rename to order_revisions`;
    await orderLive.upsertOrders(principal, createTestLiveOrderInput());
    await eventually("the order", () => stream.events.some(({ type }) => type === "order"));
    broadcaster.close();
    await stream.waitForEnd();
  });
});
