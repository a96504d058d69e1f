import { randomUUID } from "node:crypto";
import { OrderLeftEvent, OrderLive } from "@pragma/contracts/order-live";
import { readEventStream, type ServerSentEvent } from "@pragma/runtime/testing/event-stream-reader";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { TestService } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { orderLiveConfig } from "../context.ts";
import { trimRevisionLog } from "../periodic/remove-old-orders.ts";
import { changeLiveOrderInput, createLiveOrderInput, createTestProductRow } from "../testing/order-fixtures.ts";
import {
  createPosPrincipal,
  openStreamAt,
  startTestOrderLive,
  type TestOrderLive,
  upsertOrdersAt,
} from "../testing/start-test-order-live.ts";

let orderLive: TestOrderLive;
let other: TestService;
beforeAll(async () => {
  orderLive = await startTestOrderLive({ STREAM_HEARTBEAT_SECONDS: "1", STREAM_STALL_SECONDS: "1" });
  other = await orderLive.startAnotherInstance();
});
afterAll(() => orderLive.remove());

const path = "/v1/orders-live/stream";
const typesOf = (events: ServerSentEvent[]) => events.map(({ type }) => type);
const revisionsOf = (events: ServerSentEvent[]) => events.map(({ data }) => data.revisionHash ?? data.reason);

describe("a stream that begins", () => {
  it("shows the orders that are there, says that it is ready, and goes on with each change", async () => {
    const { principal, locationId } = createPosPrincipal();
    const orders = [createLiveOrderInput(), createLiveOrderInput(), createLiveOrderInput()];
    await orderLive.upsertOrders(principal, ...orders);
    const stream = await orderLive.openStream(principal);
    await stream.waitForEvents(4);
    expect(typesOf(stream.events)).toEqual(["order", "order", "order", "ready"]);
    expect(stream.events.map(({ id }) => id)).toEqual([undefined, undefined, undefined, `${locationId}:3`]);
    const first = changeLiveOrderInput(orders[0] ?? createLiveOrderInput(), { isPaid: true });
    await orderLive.upsertOrders(principal, first);
    await orderLive.upsertOrders(principal, changeLiveOrderInput(first, { isCanceled: true }), createLiveOrderInput());
    const events = (await stream.waitForEvents(7)).slice(4);
    expect(events.map(({ id, type }) => `${id} ${type}`)).toEqual(
      [4, 5, 6].map((position) => `${locationId}:${position} order`),
    );
    const listed = await orderLive.listOrders(principal);
    expect(OrderLive.parse(events[2]?.data)).toEqual(listed.data.find(({ id }) => id === events[2]?.data.id));
    expect(stream.retry).toBe(1_000);
    await stream.close();
  });

  it("tells nothing of other locations", async () => {
    const [mine, theirs] = [createPosPrincipal(), createPosPrincipal()];
    const stream = await orderLive.openStream(mine.principal);
    await stream.waitForEvents(1, "ready");
    await orderLive.upsertOrders(theirs.principal, createLiveOrderInput());
    await orderLive.upsertOrders(mine.principal, createLiveOrderInput());
    expect((await stream.waitForEvents(2)).map(({ data }) => data.locationId)).toEqual([undefined, mine.locationId]);
    await stream.close();
  });

  it("says within moments what another instance was sent", async () => {
    const { principal } = createPosPrincipal();
    const stream = await openStreamAt(other, principal);
    await stream.waitForEvents(1, "ready");
    const order = createLiveOrderInput();
    await upsertOrdersAt(orderLive, principal, order);
    const since = performance.now();
    await stream.waitForEvents(1, "order");
    expect(performance.now() - since).toBeLessThan(700);
    await stream.close();
  });

  it("says what no signal told of, a moment later", async () => {
    const { principal, locationId } = createPosPrincipal();
    const order = createLiveOrderInput();
    await orderLive.upsertOrders(principal, order);
    const stream = await orderLive.openStream(principal);
    await stream.waitForEvents(1, "ready");
    // As another instance does that has no connection to NATS.
    await orderLive.db.sql`
      with moved as (
        update streams set position = position + 1 where location_id = ${locationId} returning position
      )
      insert into revisions select location_id, moved.position, order_id, before, after, body
      from revisions, moved where location_id = ${locationId}`;
    expect((await stream.waitForEvents(2, "order"))[1]?.id).toBe(`${locationId}:2`);
    await stream.close();
  });

  it("shows every order once and as it is at last, however much changes while it begins", async () => {
    const { principal } = createPosPrincipal();
    const orders = Array.from({ length: 120 }, () => createLiveOrderInput());
    for (let at = 0; at < orders.length; at += 40)
      await orderLive.upsertOrders(principal, ...orders.slice(at, at + 40));
    let isOver = false;
    const busy = (async () => {
      for (let round = 1; !isOver; round++) {
        const some = orders.filter((_, index) => (index + round) % 7 === 0);
        await upsertOrdersAt(
          round % 2 ? orderLive : other,
          principal,
          ...some.map((order) => changeLiveOrderInput(order, { guestsCount: round })),
        );
      }
    })();
    const streams = await Promise.all(
      [orderLive, other, orderLive, other].map((service) => openStreamAt(service, principal)),
    );
    await Promise.all(streams.map((stream) => stream.waitForEvents(1, "ready")));
    isOver = true;
    await busy;
    const last = createLiveOrderInput();
    await orderLive.upsertOrders(principal, last);
    const expected = new Map<string, unknown>();
    for (let index = 0; index < 2; index++) {
      for (const { id, revisionHash } of (await orderLive.listOrders(principal, `?size=100&index=${index}`)).data)
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
    const { principal } = createPosPrincipal();
    const order = createLiveOrderInput();
    const sent: string[] = [];
    const change = async () => {
      const next = changeLiveOrderInput(order, { guestsCount: sent.length });
      await orderLive.upsertOrders(principal, next);
      sent.push(next.revisionHash);
    };
    const seen: unknown[] = [];
    let lastEventId: string | undefined;
    for (let turn = 0; turn < 4; turn++) {
      const stream = await openStreamAt(turn % 2 ? other : orderLive, principal, { lastEventId });
      await stream.waitForEvents(1, "ready");
      await change();
      await change();
      await stream.waitForEvents(2 + (turn > 0 ? 1 : 0), "order");
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
    const { principal, locationId } = createPosPrincipal();
    const order = createLiveOrderInput();
    await orderLive.upsertOrders(principal, order);
    const stream = await orderLive.openStream(principal, { lastEventId: idOf(locationId) });
    await stream.waitForEvents(3);
    expect(typesOf(stream.events)).toEqual(["reset", "order", "ready"]);
    expect(stream.events[0]).toMatchObject({ id: "", data: { reason: "unknown" } });
    expect(stream.events[1]?.data.id).toBe(order.id);
    expect(stream.lastEventId).toBe(`${locationId}:1`);
    await stream.close();
  });

  it("begins anew after an id that is older than the log, and goes on after any that is not", async () => {
    const { principal, locationId } = createPosPrincipal();
    const order = createLiveOrderInput();
    const revisions = [order, changeLiveOrderInput(order, {}), changeLiveOrderInput(order, { isPaid: true })];
    for (const revision of revisions) await orderLive.upsertOrders(principal, revision);
    await orderLive.db.sql`
      update revisions set created_at = now() - interval '25 hours' where location_id = ${locationId} and position < 3`;
    await trimRevisionLog.run({ db: orderLive.db, config: orderLiveConfig.parse({}) });
    const openAfter = async (position: number) => {
      const stream = await orderLive.openStream(principal, { lastEventId: `${locationId}:${position}` });
      await stream.waitForEvents(1, "ready");
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
    const { principal, locationId } = createPosPrincipal();
    await orderLive.upsertOrders(principal, createLiveOrderInput());
    await orderLive.db.sql`delete from revisions where location_id = ${locationId}`;
    const stream = await orderLive.openStream(principal, { lastEventId: `${locationId}:1` });
    expect(typesOf(await stream.waitForEvents(1))).toEqual(["ready"]);
    await stream.close();
  });
});

describe("a stream with filters", () => {
  it("shows what passes, and that it left when it passes no more", async () => {
    const { principal, locationId } = createPosPrincipal();
    const [tillId, otherTill] = [randomUUID(), randomUUID()];
    const order = createLiveOrderInput({}, { tillId });
    await orderLive.upsertOrders(
      principal,
      order,
      createLiveOrderInput({ isPaid: true }, { tillId }),
      createLiveOrderInput({}, { tillId: otherTill }),
    );
    const stream = await orderLive.openStream(principal, { query: `?isPaid=false&tillId=${tillId.toUpperCase()}` });
    await stream.waitForEvents(1, "ready");
    expect(typesOf(stream.events)).toEqual(["order", "ready"]);
    const turns = [
      changeLiveOrderInput(order, { guestsCount: 9 }),
      changeLiveOrderInput(order, { isPaid: true }),
      changeLiveOrderInput(order, { isPaid: true, guestsCount: 8 }),
      changeLiveOrderInput(order, { isPaid: false }),
      { ...changeLiveOrderInput(order, {}), tillId: otherTill },
    ];
    for (const turn of turns) await orderLive.upsertOrders(principal, turn);
    const events = (await stream.waitForEvents(6)).slice(2);
    expect(revisionsOf(events)).toEqual([turns[0]?.revisionHash, "filter", turns[3]?.revisionHash, "filter"]);
    expect(OrderLeftEvent.parse(events[1]?.data)).toEqual({ id: order.id, locationId, tillId, reason: "filter" });
    expect(events.map(({ id }) => id)).toEqual([4, 5, 7, 8].map((position) => `${locationId}:${position}`));
    await stream.close();
  });

  it("is brought forward past what was not for it", async () => {
    const { principal, locationId } = createPosPrincipal();
    const response = await orderLive.request("GET", `${path}?isCanceled=true`, { principal });
    await orderLive.upsertOrders(principal, createLiveOrderInput(), createLiveOrderInput());
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
  async function sendMuch({ principal }: ReturnType<typeof createPosPrincipal>, { changes }: { changes: number }) {
    const order = createLiveOrderInput({ productRowList: Array.from({ length: 75 }, createTestProductRow) });
    const revisions = Array.from({ length: changes }, (_, index) =>
      changeLiveOrderInput(order, { guestsCount: index }),
    );
    for (const revision of revisions) await orderLive.upsertOrders(principal, revision);
    return revisions.map(({ revisionHash }) => revisionHash);
  }
  const open = async ({ principal }: ReturnType<typeof createPosPrincipal>, service: TestService = orderLive) => {
    const response = await service.request("GET", path, { principal });
    expect(response.headers.get("cache-control")).toContain("no-store");
    return response;
  };

  it("that is slow gets everything at its own pace", async () => {
    const shop = createPosPrincipal();
    const response = await open(shop, await orderLive.startAnotherInstance({ STREAM_STALL_SECONDS: "60" }));
    const sent = await sendMuch(shop, { changes: 40 });
    const stream = readEventStream(response);
    await stream.waitForEvents(40, "order");
    expect(revisionsOf(stream.events.filter(({ type }) => type === "order"))).toEqual(sent);
    await stream.close();
  });

  it("that takes nothing is told so and dropped, and nothing waits for it any more", async () => {
    const shop = createPosPrincipal();
    const response = await open(shop);
    await sendMuch(shop, { changes: 3 });
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const stream = readEventStream(response);
    await stream.waitForEnd();
    expect(stream.ending).toBe("ended");
    expect(stream.events.at(-1)).toMatchObject({ type: "closed", data: { reason: "slow" } });
    expect(stream.events.length).toBeLessThan(5);
  });

  it("hears a heartbeat when there is nothing to say", async () => {
    const stream = await orderLive.openStream(createPosPrincipal().principal);
    await eventually("two heartbeats", () => stream.comments.length > 1, { timeoutSeconds: 4 });
    expect(stream.comments[0]).toMatch(/^ ?heartbeat$/);
    await stream.close();
  });

  it("that asks for the head only opens no stream", async () => {
    const answer = await orderLive.request("HEAD", path, { principal: createPosPrincipal().principal });
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
  });
});

describe("a process that is about to stop", () => {
  it("ends its streams so that their readers come back, and opens no more", async () => {
    const { principal } = createPosPrincipal();
    const stopping = await orderLive.startAnotherInstance();
    const stream = await openStreamAt(stopping, principal);
    await stream.waitForEvents(1, "ready");
    stopping.running.beforeStop();
    await stream.waitForEnd();
    expect(stream.ending).toBe("ended");
    expect(stream.events.at(-1)).toMatchObject({ type: "closed", data: { reason: "shutdown" } });
    expect(stream.retry).toBe(1_000);
    const again = await stopping.request("GET", path, { principal });
    expect([again.status, again.headers.get("retry-after")]).toEqual([503, "1"]);
    await again.body?.cancel();
    const elsewhere = await orderLive.openStream(principal, { lastEventId: stream.lastEventId });
    await orderLive.upsertOrders(principal, createLiveOrderInput());
    await elsewhere.waitForEvents(1, "order");
    await elsewhere.close();
  });
});
