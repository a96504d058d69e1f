import { randomUUID } from "node:crypto";
import { createLogger } from "@pragma/runtime/observability/logger";
import { readEventStream } from "@pragma/runtime/testing/event-stream-reader";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createLiveOrderInput } from "../testing/order-fixtures.ts";
import { createPosPrincipal, startTestOrderLive, type TestOrderLive } from "../testing/start-test-order-live.ts";
import { createOrderBroadcaster, type OrderBroadcaster } from "./order-broadcaster.ts";

let orderLive: TestOrderLive;
beforeAll(async () => {
  orderLive = await startTestOrderLive();
});
afterAll(() => orderLive.remove());

/** A hub whose questions to the database are counted. */
function createCountingBroadcaster(): { hub: OrderBroadcaster; queryCount: () => number } {
  let count = 0;
  const { sql } = orderLive.db;
  const counting = new Proxy(sql, {
    apply(target, self, [first, ...rest]) {
      // Fragments are no questions.
      if (String(first).trim().startsWith("select") || String(first).trim().startsWith("with")) count += 1;
      return Reflect.apply(target, self, [first, ...rest]);
    },
  });
  const hub = createOrderBroadcaster({
    sql: counting,
    notifier: { publish() {}, subscribe() {} },
    log: createLogger({ name: "test", level: "silent" }),
    heartbeatMs: 60_000,
    stallTimeoutMs: 60_000,
  });
  return { hub, queryCount: () => count };
}

const openTestStream = async (hub: OrderBroadcaster, locationId: string, signal = new AbortController().signal) =>
  readEventStream(new Response(await hub.openStream({ locationId, filter: {}, lastEventId: undefined, signal })));

describe("the streams of a process", () => {
  it("are fed by one question for all readers that keep up", async () => {
    const { principal, locationId } = createPosPrincipal();
    const { hub, queryCount } = createCountingBroadcaster();
    const streams = await Promise.all(Array.from({ length: 30 }, () => openTestStream(hub, locationId)));
    await Promise.all(streams.map((stream) => stream.waitForEvents(1, "ready")));
    const before = queryCount();
    await orderLive.upsertOrders(principal, createLiveOrderInput());
    hub.notify(locationId, 1);
    await Promise.all(streams.map((stream) => stream.waitForEvents(1, "order")));
    // One for the log; there may be one more, that asks whether something came unheard.
    expect(queryCount() - before).toBeLessThanOrEqual(2);
    hub.close();
    await Promise.all(streams.map((stream) => stream.waitForEnd()));
  });

  it("leave nothing behind when their readers are gone: no timer, no question", async () => {
    const { locationId } = createPosPrincipal();
    const { hub, queryCount } = createCountingBroadcaster();
    const timers = vi.spyOn(globalThis, "clearInterval");
    const gone = new AbortController();
    const streams = [await openTestStream(hub, locationId), await openTestStream(hub, locationId, gone.signal)];
    expect(hub.connectionCount).toBe(2);
    await streams[0]?.close();
    expect(hub.connectionCount).toBe(1);
    gone.abort();
    expect(hub.connectionCount).toBe(0);
    expect(timers).toHaveBeenCalledTimes(2);
    timers.mockRestore();
    const asked = queryCount();
    hub.notify(locationId, 9);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(queryCount()).toBe(asked);
    hub.close();
  });

  it("are not opened for a reader that has gone already", async () => {
    const { hub } = createCountingBroadcaster();
    const stream = await openTestStream(hub, randomUUID(), AbortSignal.abort());
    await stream.waitForEnd();
    expect(hub.connectionCount).toBe(0);
    hub.close();
  });

  it("are so many for a location at most", async () => {
    const { locationId } = createPosPrincipal();
    const { hub } = createCountingBroadcaster();
    const ask = () =>
      hub.openStream({ locationId, filter: {}, lastEventId: "x", signal: new AbortController().signal });
    const bodies = await Promise.all(Array.from({ length: 500 }, ask));
    await expect(ask()).rejects.toMatchObject({ code: "too_many_streams" });
    await bodies[7]?.cancel();
    const another = await ask();
    await Promise.all([...bodies, another].map((body) => body.cancel()));
    expect(hub.connectionCount).toBe(0);
    hub.close();
  }, 60_000);

  it("end when the log cannot be read while they begin, and go on when it could not be read for a while", async () => {
    const { principal, locationId } = createPosPrincipal();
    const { hub } = createCountingBroadcaster();
    const stream = await openTestStream(hub, locationId);
    await stream.waitForEvents(1, "ready");
    await orderLive.db.sql`alter table revisions rename to lost`;
    await orderLive.db.sql`update streams set position = 0`;
    const beginning = await openTestStream(hub, locationId);
    await beginning.waitForEnd();
    expect(beginning.events.at(-1)).toMatchObject({ type: "closed", data: { reason: "unavailable" } });
    hub.notify(locationId, 1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(stream.ending).toBeUndefined();
    await orderLive.db.sql`alter table lost rename to revisions`;
    await orderLive.upsertOrders(principal, createLiveOrderInput());
    await eventually("the order", () => stream.events.some(({ type }) => type === "order"));
    hub.close();
    await stream.waitForEnd();
  });
});
