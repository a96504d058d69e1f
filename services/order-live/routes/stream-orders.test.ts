import { randomUUID } from "node:crypto";
import { OrderLeftStreamEventData, OrderLive } from "@pragma/contracts/order-live";
import { eventually } from "@pragma/runtime/testing/eventually";
import { type ServerSentEvent, startServerSentEventReader } from "@pragma/runtime/testing/server-sent-event-reader";
import type { TestService } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { orderLiveServiceConfigSchema } from "../config.ts";
import { trimOrderChangeLogTask } from "../periodic/remove-old-orders.ts";
import {
  buildTestLiveOrderProductRow,
  createChangedTestLiveOrder,
  createTestLiveOrderInput,
} from "../testing/order-fixtures.ts";
import {
  buildTestPosPrincipalAndLocation,
  openTestLiveOrderStream,
  sendTestLiveOrderUpsert,
  startTestOrderLiveService,
  type TestOrderLiveService,
} from "../testing/start-test-order-live.ts";

let orderLive: TestOrderLiveService;
let otherInstance: TestService;
beforeAll(async () => {
  orderLive = await startTestOrderLiveService({ STREAM_HEARTBEAT_SECONDS: "1", STREAM_STALL_TIMEOUT_SECONDS: "1" });
  otherInstance = await orderLive.startAnotherInstance();
});
afterAll(() => orderLive.remove());

const path = "/v1/orders-live/stream";
const typesOf = (events: ServerSentEvent[]) => events.map(({ type }) => type);
const revisionsOf = (events: ServerSentEvent[]) => events.map(({ data }) => data.revisionHash ?? data.reason);

describe("a new stream", () => {
  it("sends the current orders, a ready event, and then each change", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const orders = [createTestLiveOrderInput(), createTestLiveOrderInput(), createTestLiveOrderInput()];
    await orderLive.upsertOrders(principal, ...orders);
    const stream = await orderLive.openStream(principal);
    await stream.waitForEvents(4);
    expect(typesOf(stream.events)).toEqual(["order", "order", "order", "ready"]);
    expect(stream.events.map(({ id }) => id)).toEqual([undefined, undefined, undefined, `${locationId}:3`]);
    const first = createChangedTestLiveOrder(orders[0] ?? createTestLiveOrderInput(), { isPaid: true });
    await orderLive.upsertOrders(principal, first);
    await orderLive.upsertOrders(
      principal,
      createChangedTestLiveOrder(first, { isCanceled: true }),
      createTestLiveOrderInput(),
    );
    const events = (await stream.waitForEvents(7)).slice(4);
    expect(events.map(({ id, type }) => `${id} ${type}`)).toEqual(
      [4, 5, 6].map((position) => `${locationId}:${position} order`),
    );
    const listed = await orderLive.listOrders(principal);
    expect(OrderLive.parse(events[2]?.data)).toEqual(listed.data.find(({ id }) => id === events[2]?.data.id));
    expect(stream.retry).toBe(1_000);
    await stream.close();
  });

  it("does not send orders of other locations", async () => {
    const [pos, otherPos] = [buildTestPosPrincipalAndLocation(), buildTestPosPrincipalAndLocation()];
    const stream = await orderLive.openStream(pos.principal);
    await stream.waitForEvents(1, "ready");
    await orderLive.upsertOrders(otherPos.principal, createTestLiveOrderInput());
    await orderLive.upsertOrders(pos.principal, createTestLiveOrderInput());
    expect((await stream.waitForEvents(2)).map(({ data }) => data.locationId)).toEqual([undefined, pos.locationId]);
    await stream.close();
  });

  it("sends, within 700 ms, changes that another instance received", async () => {
    const { principal } = buildTestPosPrincipalAndLocation();
    const stream = await openTestLiveOrderStream(otherInstance, principal);
    await stream.waitForEvents(1, "ready");
    const order = createTestLiveOrderInput();
    await sendTestLiveOrderUpsert(orderLive, principal, order);
    const sentAt = performance.now();
    await stream.waitForEvents(1, "order");
    expect(performance.now() - sentAt).toBeLessThan(700);
    await stream.close();
  });

  it("sends changes without a notification by polling", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const order = createTestLiveOrderInput();
    await orderLive.upsertOrders(principal, order);
    const stream = await orderLive.openStream(principal);
    await stream.waitForEvents(1, "ready");
    // Simulates a change by another instance that cannot send a notification, because it is not connected to NATS.
    await orderLive.db.sql`
      with moved as (
        update location_streams set position = position + 1 where location_id = ${locationId} returning position
      )
      insert into order_revisions select location_id, moved.position, order_id, before, after, body
      from order_revisions, moved where location_id = ${locationId}`;
    expect((await stream.waitForEvents(2, "order"))[1]?.id).toBe(`${locationId}:2`);
    await stream.close();
  });

  it("sends the final state of every order and no revision twice while orders change", async () => {
    const { principal } = buildTestPosPrincipalAndLocation();
    const orders = Array.from({ length: 120 }, () => createTestLiveOrderInput());
    for (let start = 0; start < orders.length; start += 40)
      await orderLive.upsertOrders(principal, ...orders.slice(start, start + 40));
    let shouldStop = false;
    const concurrentChanges = (async () => {
      for (let round = 1; !shouldStop; round++) {
        const changedOrders = orders.filter((_, index) => (index + round) % 7 === 0);
        await sendTestLiveOrderUpsert(
          round % 2 ? orderLive : otherInstance,
          principal,
          ...changedOrders.map((order) => createChangedTestLiveOrder(order, { guestsCount: round })),
        );
      }
    })();
    const streams = await Promise.all(
      [orderLive, otherInstance, orderLive, otherInstance].map((service) =>
        openTestLiveOrderStream(service, principal),
      ),
    );
    await Promise.all(streams.map((stream) => stream.waitForEvents(1, "ready")));
    shouldStop = true;
    await concurrentChanges;
    const last = createTestLiveOrderInput();
    await orderLive.upsertOrders(principal, last);
    const expected = new Map<string, unknown>();
    for (let index = 0; index < 2; index++) {
      for (const { id, revisionHash } of (await orderLive.listOrders(principal, `?size=100&index=${index}`)).data)
        expected.set(id, revisionHash);
    }
    for (const stream of streams) {
      await eventually("the last order", () => stream.events.some(({ data }) => data.id === last.id));
      const received = new Map(
        stream.events.filter(({ type }) => type === "order").map(({ data }) => [data.id, data.revisionHash]),
      );
      expect(new Map([...received].sort())).toEqual(new Map([...expected].sort()));
      const revisions = stream.events
        .filter(({ type }) => type === "order")
        .map(({ data }) => `${data.id} ${data.revisionHash}`);
      expect(new Set(revisions).size).toBe(revisions.length);
      await stream.close();
    }
  });
});

describe("a resumed stream", () => {
  it("continues after the last event id on any instance, without gaps or duplicates", async () => {
    const { principal } = buildTestPosPrincipalAndLocation();
    const order = createTestLiveOrderInput();
    const sentRevisions: string[] = [];
    const changeOrder = async () => {
      const next = createChangedTestLiveOrder(order, { guestsCount: sentRevisions.length });
      await orderLive.upsertOrders(principal, next);
      sentRevisions.push(next.revisionHash);
    };
    const received: unknown[] = [];
    let lastEventId: string | undefined;
    for (let connection = 0; connection < 4; connection++) {
      const stream = await openTestLiveOrderStream(connection % 2 ? otherInstance : orderLive, principal, {
        lastEventId,
      });
      await stream.waitForEvents(1, "ready");
      await changeOrder();
      await changeOrder();
      await stream.waitForEvents(2 + (connection > 0 ? 1 : 0), "order");
      received.push(...revisionsOf(stream.events.filter(({ type }) => type === "order")));
      ({ lastEventId } = stream);
      await stream.close();
      await changeOrder();
    }
    expect(received).toEqual(sentRevisions.slice(0, -1));
  });

  it.each<[string, (locationId: string) => string]>([
    ["of another location", () => `${randomUUID()}:1`],
    ["of a later position", (locationId) => `${locationId}:99`],
    ["that is malformed", () => "yesterday"],
  ])("restarts with a reset after an event id %s", async (_, createEventId) => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const order = createTestLiveOrderInput();
    await orderLive.upsertOrders(principal, order);
    const stream = await orderLive.openStream(principal, { lastEventId: createEventId(locationId) });
    await stream.waitForEvents(3);
    expect(typesOf(stream.events)).toEqual(["reset", "order", "ready"]);
    expect(stream.events[0]).toMatchObject({ id: "", data: { reason: "unknown" } });
    expect(stream.events[1]?.data.id).toBe(order.id);
    expect(stream.lastEventId).toBe(`${locationId}:1`);
    await stream.close();
  });

  it("restarts after an event id older than the log and continues after a later event id", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const order = createTestLiveOrderInput();
    const revisions = [
      order,
      createChangedTestLiveOrder(order, {}),
      createChangedTestLiveOrder(order, { isPaid: true }),
    ];
    for (const revision of revisions) await orderLive.upsertOrders(principal, revision);
    await orderLive.db.sql`
      update order_revisions set created_at = now() - interval '25 hours'
      where location_id = ${locationId} and position < 3`;
    await trimOrderChangeLogTask.run({ db: orderLive.db, config: orderLiveServiceConfigSchema.parse({}) });
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

  it("continues after an empty log if nothing has changed since", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    await orderLive.upsertOrders(principal, createTestLiveOrderInput());
    await orderLive.db.sql`delete from order_revisions where location_id = ${locationId}`;
    const stream = await orderLive.openStream(principal, { lastEventId: `${locationId}:1` });
    expect(typesOf(await stream.waitForEvents(1))).toEqual(["ready"]);
    await stream.close();
  });
});

describe("a stream with filters", () => {
  it("sends matching orders, and a left event when an order no longer matches", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const [tillId, otherTill] = [randomUUID(), randomUUID()];
    const order = createTestLiveOrderInput({}, { tillId });
    await orderLive.upsertOrders(
      principal,
      order,
      createTestLiveOrderInput({ isPaid: true }, { tillId }),
      createTestLiveOrderInput({}, { tillId: otherTill }),
    );
    const stream = await orderLive.openStream(principal, { query: `?isPaid=false&tillId=${tillId.toUpperCase()}` });
    await stream.waitForEvents(1, "ready");
    expect(typesOf(stream.events)).toEqual(["order", "ready"]);
    const changes = [
      createChangedTestLiveOrder(order, { guestsCount: 9 }),
      createChangedTestLiveOrder(order, { isPaid: true }),
      createChangedTestLiveOrder(order, { isPaid: true, guestsCount: 8 }),
      createChangedTestLiveOrder(order, { isPaid: false }),
      { ...createChangedTestLiveOrder(order, {}), tillId: otherTill },
    ];
    for (const change of changes) await orderLive.upsertOrders(principal, change);
    const events = (await stream.waitForEvents(6)).slice(2);
    expect(revisionsOf(events)).toEqual([changes[0]?.revisionHash, "filter", changes[3]?.revisionHash, "filter"]);
    expect(OrderLeftStreamEventData.parse(events[1]?.data)).toEqual({
      id: order.id,
      locationId,
      tillId,
      reason: "filter",
    });
    expect(events.map(({ id }) => id)).toEqual([4, 5, 7, 8].map((position) => `${locationId}:${position}`));
    await stream.close();
  });

  it("advances its event id past changes that do not match", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const response = await orderLive.request("GET", `${path}?isCanceled=true`, { principal });
    await orderLive.upsertOrders(principal, createTestLiveOrderInput(), createTestLiveOrderInput());
    const reader = response.body?.getReader();
    let text = "";
    await eventually("a heartbeat with an event id", async () => {
      text += new TextDecoder().decode((await reader?.read())?.value);
      return text.includes(`\n\n: heartbeat\nid: ${locationId}:2\n\n`);
    });
    expect(text).not.toContain("event: order");
    await reader?.cancel();
  });
});

describe("a client", () => {
  /** Sends changes of more than 100 KB each, and returns their revision hashes. */
  async function sendLargeChanges(
    { principal }: ReturnType<typeof buildTestPosPrincipalAndLocation>,
    { count }: { count: number },
  ) {
    const order = createTestLiveOrderInput({
      productRowList: Array.from({ length: 75 }, buildTestLiveOrderProductRow),
    });
    const revisions = Array.from({ length: count }, (_, index) =>
      createChangedTestLiveOrder(order, { guestsCount: index }),
    );
    for (const revision of revisions) await orderLive.upsertOrders(principal, revision);
    return revisions.map(({ revisionHash }) => revisionHash);
  }
  const openResponse = async (
    { principal }: ReturnType<typeof buildTestPosPrincipalAndLocation>,
    service: TestService = orderLive,
  ) => {
    const response = await service.request("GET", path, { principal });
    expect(response.headers.get("cache-control")).toContain("no-store");
    return response;
  };

  it("that is slow receives all changes at its own pace", async () => {
    const pos = buildTestPosPrincipalAndLocation();
    const response = await openResponse(
      pos,
      await orderLive.startAnotherInstance({ STREAM_STALL_TIMEOUT_SECONDS: "60" }),
    );
    const sentRevisions = await sendLargeChanges(pos, { count: 40 });
    const stream = startServerSentEventReader(response);
    await stream.waitForEvents(40, "order");
    expect(revisionsOf(stream.events.filter(({ type }) => type === "order"))).toEqual(sentRevisions);
    await stream.close();
  });

  it("that reads nothing is disconnected with the reason slow, and its buffer is dropped", async () => {
    const pos = buildTestPosPrincipalAndLocation();
    const response = await openResponse(pos);
    await sendLargeChanges(pos, { count: 3 });
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const stream = startServerSentEventReader(response);
    await stream.waitForEnd();
    expect(stream.ending).toBe("ended");
    expect(stream.events.at(-1)).toMatchObject({ type: "closed", data: { reason: "slow" } });
    expect(stream.events.length).toBeLessThan(5);
  });

  it("receives heartbeats from an idle stream", async () => {
    const stream = await orderLive.openStream(buildTestPosPrincipalAndLocation().principal);
    await eventually("two heartbeats", () => stream.comments.length > 1, { timeoutSeconds: 4 });
    expect(stream.comments[0]).toMatch(/^ ?heartbeat$/);
    await stream.close();
  });

  it("opens no stream for a HEAD request", async () => {
    const response = await orderLive.request("HEAD", path, { principal: buildTestPosPrincipalAndLocation().principal });
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });
});

describe("a stopping process", () => {
  it("ends its streams with a retry time and opens no new streams", async () => {
    const { principal } = buildTestPosPrincipalAndLocation();
    const stopping = await orderLive.startAnotherInstance();
    const stream = await openTestLiveOrderStream(stopping, principal);
    await stream.waitForEvents(1, "ready");
    stopping.running.beforeStop();
    await stream.waitForEnd();
    expect(stream.ending).toBe("ended");
    expect(stream.events.at(-1)).toMatchObject({ type: "closed", data: { reason: "shutdown" } });
    expect(stream.retry).toBe(1_000);
    const rejected = await stopping.request("GET", path, { principal });
    expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([503, "1"]);
    await rejected.body?.cancel();
    const resumedStream = await orderLive.openStream(principal, { lastEventId: stream.lastEventId });
    await orderLive.upsertOrders(principal, createTestLiveOrderInput());
    await resumedStream.waitForEvents(1, "order");
    await resumedStream.close();
  });
});
