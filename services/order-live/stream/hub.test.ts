import { randomUUID } from "node:crypto";
import { createLogger } from "@pragma/runtime/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import { readEventStream } from "@pragma/runtime/testing/server-sent-events";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { makeOrder } from "../testing/make-order.ts";
import { posKey, startOrderLive, type TestOrderLive } from "../testing/start-order-live.ts";
import { createHub, type Hub } from "./hub.ts";

let orderLive: TestOrderLive;
beforeAll(async () => {
  orderLive = await startOrderLive();
});
afterAll(() => orderLive.remove());

/** A hub whose questions to the database are counted. */
function open(): { hub: Hub; questions: () => number } {
  let asked = 0;
  const { sql } = orderLive.db;
  const counting = new Proxy(sql, {
    apply(target, self, [first, ...rest]) {
      // Fragments are no questions.
      if (String(first).trim().startsWith("select") || String(first).trim().startsWith("with")) asked += 1;
      return Reflect.apply(target, self, [first, ...rest]);
    },
  });
  const hub = createHub({
    sql: counting,
    signals: { send() {}, listen() {} },
    log: createLogger({ name: "test", level: "silent" }),
    heartbeat: 60_000,
    stallTime: 60_000,
  });
  return { hub, questions: () => asked };
}

const streamOf = async (hub: Hub, locationId: string, signal = new AbortController().signal) =>
  readEventStream(new Response(await hub.open({ locationId, filter: {}, lastEventId: undefined, signal })));

describe("the streams of a process", () => {
  it("are fed by one question for all readers that keep up", async () => {
    const { principal, locationId } = posKey();
    const { hub, questions } = open();
    const streams = await Promise.all(Array.from({ length: 30 }, () => streamOf(hub, locationId)));
    await Promise.all(streams.map((stream) => stream.received(1, "ready")));
    const before = questions();
    await orderLive.upsert(principal, makeOrder());
    hub.tell(locationId, 1);
    await Promise.all(streams.map((stream) => stream.received(1, "order")));
    // One for the log; there may be one more, that asks whether something came unheard.
    expect(questions() - before).toBeLessThanOrEqual(2);
    hub.close();
    await Promise.all(streams.map((stream) => stream.ended()));
  });

  it("leave nothing behind when their readers are gone: no timer, no question", async () => {
    const { locationId } = posKey();
    const { hub, questions } = open();
    const timers = vi.spyOn(globalThis, "clearInterval");
    const gone = new AbortController();
    const streams = [await streamOf(hub, locationId), await streamOf(hub, locationId, gone.signal)];
    expect(hub.size).toBe(2);
    await streams[0]?.close();
    expect(hub.size).toBe(1);
    gone.abort();
    expect(hub.size).toBe(0);
    expect(timers).toHaveBeenCalledTimes(2);
    timers.mockRestore();
    const asked = questions();
    hub.tell(locationId, 9);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(questions()).toBe(asked);
    hub.close();
  });

  it("are not opened for a reader that has gone already", async () => {
    const { hub } = open();
    const stream = await streamOf(hub, randomUUID(), AbortSignal.abort());
    await stream.ended();
    expect(hub.size).toBe(0);
    hub.close();
  });

  it("are so many for a location at most", async () => {
    const { locationId } = posKey();
    const { hub } = open();
    const ask = () => hub.open({ locationId, filter: {}, lastEventId: "x", signal: new AbortController().signal });
    const bodies = await Promise.all(Array.from({ length: 500 }, ask));
    await expect(ask()).rejects.toMatchObject({ code: "too_many_streams" });
    await bodies[7]?.cancel();
    const another = await ask();
    await Promise.all([...bodies, another].map((body) => body.cancel()));
    expect(hub.size).toBe(0);
    hub.close();
  }, 60_000);

  it("end when the log cannot be read while they begin, and go on when it could not be read for a while", async () => {
    const { principal, locationId } = posKey();
    const { hub } = open();
    const stream = await streamOf(hub, locationId);
    await stream.received(1, "ready");
    await orderLive.db.sql`alter table revisions rename to lost`;
    await orderLive.db.sql`update streams set position = 0`;
    const beginning = await streamOf(hub, locationId);
    await beginning.ended();
    expect(beginning.events.at(-1)).toMatchObject({ type: "closed", data: { reason: "unavailable" } });
    hub.tell(locationId, 1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(stream.ending).toBeUndefined();
    await orderLive.db.sql`alter table lost rename to revisions`;
    await orderLive.upsert(principal, makeOrder());
    await eventually("the order", () => stream.events.some(({ type }) => type === "order"));
    hub.close();
    await stream.ended();
  });
});
