import { randomUUID } from "node:crypto";
import { OrderLeft, OrderLive } from "@pragma/contracts/order-live";
import { eventually } from "@pragma/runtime/testing/eventually";
import { readEventStream, type StreamedEvent } from "@pragma/runtime/testing/server-sent-events";
import type { TestService } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { orderLiveConfig } from "../order-live.ts";
import { shortenLog } from "../periodic/forget-past.ts";
import { changed, makeOrder, makeRow } from "../testing/make-order.ts";
import { posKey, startOrderLive, streamAt, type TestOrderLive, upsertAt } from "../testing/start-order-live.ts";

let orderLive: TestOrderLive;
let other: TestService;
beforeAll(async () => {
  orderLive = await startOrderLive({ STREAM_HEARTBEAT_SECONDS: "1", STREAM_STALL_SECONDS: "1" });
  other = await orderLive.another();
});
afterAll(() => orderLive.remove());

const path = "/v1/orders-live/stream";
const typesOf = (events: StreamedEvent[]) => events.map(({ type }) => type);
const revisionsOf = (events: StreamedEvent[]) => events.map(({ data }) => data.revisionHash ?? data.reason);

describe("a stream that begins", () => {
  it("shows the orders that are there, says that it is ready, and goes on with each change", async () => {
    const { principal, locationId } = posKey();
    const orders = [makeOrder(), makeOrder(), makeOrder()];
    await orderLive.upsert(principal, ...orders);
    const stream = await orderLive.stream(principal);
    await stream.received(4);
    expect(typesOf(stream.events)).toEqual(["order", "order", "order", "ready"]);
    expect(stream.events.map(({ id }) => id)).toEqual([undefined, undefined, undefined, `${locationId}:3`]);
    const first = changed(orders[0] ?? makeOrder(), { isPaid: true });
    await orderLive.upsert(principal, first);
    await orderLive.upsert(principal, changed(first, { isCanceled: true }), makeOrder());
    const events = (await stream.received(7)).slice(4);
    expect(events.map(({ id, type }) => `${id} ${type}`)).toEqual(
      [4, 5, 6].map((position) => `${locationId}:${position} order`),
    );
    const listed = await orderLive.list(principal);
    expect(OrderLive.parse(events[2]?.data)).toEqual(listed.data.find(({ id }) => id === events[2]?.data.id));
    expect(stream.retry).toBe(1_000);
    await stream.close();
  });

  it("tells nothing of other locations", async () => {
    const [mine, theirs] = [posKey(), posKey()];
    const stream = await orderLive.stream(mine.principal);
    await stream.received(1, "ready");
    await orderLive.upsert(theirs.principal, makeOrder());
    await orderLive.upsert(mine.principal, makeOrder());
    expect((await stream.received(2)).map(({ data }) => data.locationId)).toEqual([undefined, mine.locationId]);
    await stream.close();
  });

  it("says within moments what another instance was sent", async () => {
    const { principal } = posKey();
    const stream = await streamAt(other, principal);
    await stream.received(1, "ready");
    const order = makeOrder();
    await upsertAt(orderLive, principal, order);
    const since = performance.now();
    await stream.received(1, "order");
    expect(performance.now() - since).toBeLessThan(700);
    await stream.close();
  });

  it("says what no signal told of, a moment later", async () => {
    const { principal, locationId } = posKey();
    const order = makeOrder();
    await orderLive.upsert(principal, order);
    const stream = await orderLive.stream(principal);
    await stream.received(1, "ready");
    // As another instance does that has no connection to NATS.
    await orderLive.db.sql`
      with moved as (
        update streams set position = position + 1 where location_id = ${locationId} returning position
      )
      insert into revisions select location_id, moved.position, order_id, before, after, body
      from revisions, moved where location_id = ${locationId}`;
    expect((await stream.received(2, "order"))[1]?.id).toBe(`${locationId}:2`);
    await stream.close();
  });

  it("shows every order once and as it is at last, however much changes while it begins", async () => {
    const { principal } = posKey();
    const orders = Array.from({ length: 120 }, () => makeOrder());
    for (let at = 0; at < orders.length; at += 40) await orderLive.upsert(principal, ...orders.slice(at, at + 40));
    let isOver = false;
    const busy = (async () => {
      for (let round = 1; !isOver; round++) {
        const some = orders.filter((_, index) => (index + round) % 7 === 0);
        await upsertAt(
          round % 2 ? orderLive : other,
          principal,
          ...some.map((order) => changed(order, { guestsCount: round })),
        );
      }
    })();
    const streams = await Promise.all(
      [orderLive, other, orderLive, other].map((service) => streamAt(service, principal)),
    );
    await Promise.all(streams.map((stream) => stream.received(1, "ready")));
    isOver = true;
    await busy;
    const last = makeOrder();
    await orderLive.upsert(principal, last);
    const expected = new Map<string, unknown>();
    for (let index = 0; index < 2; index++) {
      for (const { id, revisionHash } of (await orderLive.list(principal, `?size=100&index=${index}`)).data)
        expected.set(id, revisionHash);
    }
    for (const stream of streams) {
      await eventually("the last order", () => stream.events.some(({ data }) => data.id === last.id));
      const shown = new Map(
        stream.events.filter(({ type }) => type === "order").map(({ data }) => [data.id, data.revisionHash]),
      );
      expect(new Map([...shown].sort())).toEqual(new Map([...expected].sort()));
      const revisions = stream.events
        .filter(({ type }) => type === "order")
        .map(({ data }) => `${data.id} ${data.revisionHash}`);
      expect(new Set(revisions).size).toBe(revisions.length);
      await stream.close();
    }
  });
});

describe("a stream that is taken up again", () => {
  it("goes on after the last id, on whichever instance, with nothing missing and nothing twice", async () => {
    const { principal } = posKey();
    const order = makeOrder();
    const sent: string[] = [];
    const change = async () => {
      const next = changed(order, { guestsCount: sent.length });
      await orderLive.upsert(principal, next);
      sent.push(next.revisionHash);
    };
    const seen: unknown[] = [];
    let lastEventId: string | undefined;
    for (let turn = 0; turn < 4; turn++) {
      const stream = await streamAt(turn % 2 ? other : orderLive, principal, { lastEventId });
      await stream.received(1, "ready");
      await change();
      await change();
      await stream.received(2 + (turn > 0 ? 1 : 0), "order");
      seen.push(...revisionsOf(stream.events.filter(({ type }) => type === "order")));
      ({ lastEventId } = stream);
      await stream.close();
      await change();
    }
    expect(seen).toEqual(sent.slice(0, -1));
  });

  it.each<[string, (own: string) => string]>([
    ["of another location", () => `${randomUUID()}:1`],
    ["that is still to come", (own) => `${own}:99`],
    ["that is none", () => "yesterday"],
  ])("begins anew after an id %s, and says so", async (_, idOf) => {
    const { principal, locationId } = posKey();
    const order = makeOrder();
    await orderLive.upsert(principal, order);
    const stream = await orderLive.stream(principal, { lastEventId: idOf(locationId) });
    await stream.received(3);
    expect(typesOf(stream.events)).toEqual(["reset", "order", "ready"]);
    expect(stream.events[0]).toMatchObject({ id: "", data: { reason: "unknown" } });
    expect(stream.events[1]?.data.id).toBe(order.id);
    expect(stream.lastEventId).toBe(`${locationId}:1`);
    await stream.close();
  });

  it("begins anew after an id that is older than the log, and goes on after any that is not", async () => {
    const { principal, locationId } = posKey();
    const order = makeOrder();
    const revisions = [order, changed(order, {}), changed(order, { isPaid: true })];
    for (const revision of revisions) await orderLive.upsert(principal, revision);
    await orderLive.db.sql`
      update revisions set created_at = now() - interval '25 hours' where location_id = ${locationId} and position < 3`;
    await shortenLog.run({ db: orderLive.db, config: orderLiveConfig.parse({}) });
    const openAfter = async (position: number) => {
      const stream = await orderLive.stream(principal, { lastEventId: `${locationId}:${position}` });
      await stream.received(1, "ready");
      await stream.close();
      return stream.events;
    };
    const expired = await openAfter(1);
    expect(typesOf(expired)).toEqual(["reset", "order", "ready"]);
    expect(expired[0]?.data).toEqual({ reason: "expired" });
    expect(typesOf(await openAfter(2))).toEqual(["order", "ready"]);
    expect(typesOf(await openAfter(3))).toEqual(["ready"]);
  });

  it("can be taken up again after a log that is empty, as long as nothing came since", async () => {
    const { principal, locationId } = posKey();
    await orderLive.upsert(principal, makeOrder());
    await orderLive.db.sql`delete from revisions where location_id = ${locationId}`;
    const stream = await orderLive.stream(principal, { lastEventId: `${locationId}:1` });
    expect(typesOf(await stream.received(1))).toEqual(["ready"]);
    await stream.close();
  });
});

describe("a stream with filters", () => {
  it("shows what passes, and that it left when it passes no more", async () => {
    const { principal, locationId } = posKey();
    const [tillId, otherTill] = [randomUUID(), randomUUID()];
    const order = makeOrder({}, { tillId });
    await orderLive.upsert(
      principal,
      order,
      makeOrder({ isPaid: true }, { tillId }),
      makeOrder({}, { tillId: otherTill }),
    );
    const stream = await orderLive.stream(principal, { query: `?isPaid=false&tillId=${tillId.toUpperCase()}` });
    await stream.received(1, "ready");
    expect(typesOf(stream.events)).toEqual(["order", "ready"]);
    const turns = [
      changed(order, { guestsCount: 9 }),
      changed(order, { isPaid: true }),
      changed(order, { isPaid: true, guestsCount: 8 }),
      changed(order, { isPaid: false }),
      { ...changed(order, {}), tillId: otherTill },
    ];
    for (const turn of turns) await orderLive.upsert(principal, turn);
    const events = (await stream.received(6)).slice(2);
    expect(revisionsOf(events)).toEqual([turns[0]?.revisionHash, "filter", turns[3]?.revisionHash, "filter"]);
    expect(OrderLeft.parse(events[1]?.data)).toEqual({ id: order.id, locationId, tillId, reason: "filter" });
    expect(events.map(({ id }) => id)).toEqual([4, 5, 7, 8].map((position) => `${locationId}:${position}`));
    await stream.close();
  });

  it("is brought forward past what was not for it", async () => {
    const { principal, locationId } = posKey();
    const response = await orderLive.ask("GET", `${path}?isCanceled=true`, { principal });
    await orderLive.upsert(principal, makeOrder(), makeOrder());
    const reader = response.body?.getReader();
    let text = "";
    await eventually("a heartbeat with the place", async () => {
      text += new TextDecoder().decode((await reader?.read())?.value);
      return text.includes(`\n\n: heartbeat\nid: ${locationId}:2\n\n`);
    });
    expect(text).not.toContain("event: order");
    await reader?.cancel();
  });
});

describe("a reader", () => {
  /** Much for one reader: changes of 100 KB. */
  async function sendMuch({ principal }: ReturnType<typeof posKey>, { changes }: { changes: number }) {
    const order = makeOrder({ productRowList: Array.from({ length: 75 }, makeRow) });
    const revisions = Array.from({ length: changes }, (_, index) => changed(order, { guestsCount: index }));
    for (const revision of revisions) await orderLive.upsert(principal, revision);
    return revisions.map(({ revisionHash }) => revisionHash);
  }
  const open = async ({ principal }: ReturnType<typeof posKey>, service: TestService = orderLive) => {
    const response = await service.ask("GET", path, { principal });
    expect(response.headers.get("cache-control")).toContain("no-store");
    return response;
  };

  it("that is slow gets everything at its own pace", async () => {
    const shop = posKey();
    const response = await open(shop, await orderLive.another({ STREAM_STALL_SECONDS: "60" }));
    const sent = await sendMuch(shop, { changes: 40 });
    const stream = readEventStream(response);
    await stream.received(40, "order");
    expect(revisionsOf(stream.events.filter(({ type }) => type === "order"))).toEqual(sent);
    await stream.close();
  });

  it("that takes nothing is told so and dropped, and nothing waits for it any more", async () => {
    const shop = posKey();
    const response = await open(shop);
    await sendMuch(shop, { changes: 3 });
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const stream = readEventStream(response);
    await stream.ended();
    expect(stream.ending).toBe("ended");
    expect(stream.events.at(-1)).toMatchObject({ type: "closed", data: { reason: "slow" } });
    expect(stream.events.length).toBeLessThan(5);
  });

  it("hears a heartbeat when there is nothing to say", async () => {
    const stream = await orderLive.stream(posKey().principal);
    await eventually("two heartbeats", () => stream.comments.length > 1, { withinSeconds: 4 });
    expect(stream.comments[0]).toMatch(/^ ?heartbeat$/);
    await stream.close();
  });

  it("that asks for the head only opens no stream", async () => {
    const answer = await orderLive.ask("HEAD", path, { principal: posKey().principal });
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
  });
});

describe("a process that is about to stop", () => {
  it("ends its streams so that their readers come back, and opens no more", async () => {
    const { principal } = posKey();
    const stopping = await orderLive.another();
    const stream = await streamAt(stopping, principal);
    await stream.received(1, "ready");
    stopping.running.beforeStop();
    await stream.ended();
    expect(stream.ending).toBe("ended");
    expect(stream.events.at(-1)).toMatchObject({ type: "closed", data: { reason: "shutdown" } });
    expect(stream.retry).toBe(1_000);
    const again = await stopping.ask("GET", path, { principal });
    expect([again.status, again.headers.get("retry-after")]).toEqual([503, "1"]);
    await again.body?.cancel();
    const elsewhere = await orderLive.stream(principal, { lastEventId: stream.lastEventId });
    await orderLive.upsert(principal, makeOrder());
    await elsewhere.received(1, "order");
    await elsewhere.close();
  });
});
