import { randomUUID } from "node:crypto";
import type { OrderLiveInput } from "@pragma/contracts/order-live";
import type { Principal } from "@pragma/contracts/principal";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { ServerSentEventReader } from "@pragma/runtime/testing/server-sent-event-reader";
import type { TestService } from "@pragma/runtime/testing/test-service";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  buildTestLiveOrderProductRow,
  createChangedTestLiveOrder,
  createTestLiveOrderInput,
} from "./testing/order-fixtures.ts";
import { LiveOrderReferenceModel } from "./testing/order-model.ts";
import {
  buildTestPosPrincipalAndLocation,
  openTestLiveOrderStream,
  sendTestLiveOrderUpsert,
  startTestOrderLiveService,
  type TestOrderLiveService,
} from "./testing/start-test-order-live.ts";

let orderLive: TestOrderLiveService;
let instances: TestService[];
beforeAll(async () => {
  orderLive = await startTestOrderLiveService();
  instances = [orderLive, await orderLive.startAnotherInstance()];
});
afterAll(() => orderLive.remove());

const runCount = Number(process.env.LIVE_RUNS ?? 15);

/** The changes that a point of sale, a slow network or a faulty client makes to an order. */
const orderChanges = {
  addRow: (order) =>
    createChangedTestLiveOrder(order, {
      productRowList: [...order.data.productRowList, buildTestLiveOrderProductRow()],
    }),
  discount: (order) =>
    createChangedTestLiveOrder(order, { productRowList: order.data.productRowList.map(withDiscount) }),
  payInPart: (order) => createChangedTestLiveOrder(order, { leftToPay: order.data.leftToPay - 100 }),
  pay: (order) => createChangedTestLiveOrder(order, { isPaid: true, leftToPay: 0 }),
  cancel: (order) => createChangedTestLiveOrder(order, { isCanceled: true }),
  transfer: (order) => createChangedTestLiveOrder(order, { isTransferred: true }),
  close: (order) => createChangedTestLiveOrder(order, { manuallyClosed: true }),
  reopen: (order) =>
    createChangedTestLiveOrder(order, {
      isPaid: false,
      isCanceled: false,
      isTransferred: false,
      manuallyClosed: false,
      isTraining: false,
    }),
  train: (order) => createChangedTestLiveOrder(order, { isTraining: true }),
  payAndCancel: (order) => createChangedTestLiveOrder(order, { isPaid: true, isCanceled: true, isTransferred: true }),
  repeat: (order) => order,
} satisfies Record<string, (order: OrderLiveInput) => OrderLiveInput>;

const withDiscount = (row: OrderLiveInput["data"]["productRowList"][number]) => ({
  ...row,
  totalDiscount: row.totalDiscount + 1,
});

/** One order of an upsert request: its index, its change, its age and its till. */
interface OrderChangeInput {
  order: number;
  change: keyof typeof orderChanges;
  /** Seconds between `modifiedAt` and now; null for an order without `modifiedAt`. */
  ageSeconds: number | null;
  till: number;
}

const baseMs = Date.parse("2026-05-29T10:00:00.000Z");

/** One location under test: its model, its streams and its requests. */
class LocationTrial {
  readonly principal: Principal;
  readonly locationId: string;
  readonly ids = Array.from({ length: 3 }, () => randomUUID());
  readonly tillIds = Array.from({ length: 4 }, () => randomUUID());
  readonly latestOrders = new Map<string, OrderLiveInput>();
  readonly streams: ServerSentEventReader[];
  model = new LiveOrderReferenceModel();
  #seconds = 0;

  private constructor(
    { principal, locationId }: ReturnType<typeof buildTestPosPrincipalAndLocation>,
    streams: ServerSentEventReader[],
  ) {
    this.principal = principal;
    this.locationId = locationId;
    this.streams = streams;
  }

  static async start(): Promise<LocationTrial> {
    const pos = buildTestPosPrincipalAndLocation();
    const streams = await Promise.all(instances.map((instance) => openTestLiveOrderStream(instance, pos.principal)));
    await Promise.all(streams.map((stream) => stream.waitForEvents(1, "ready")));
    return new LocationTrial(pos, streams);
  }

  /** Returns the orders of an upsert request as the point of sale sends them. */
  composeOrders(inputs: OrderChangeInput[]): OrderLiveInput[] {
    const orders = new Map<string, OrderLiveInput>();
    for (const { order, change, ageSeconds, till } of inputs) {
      const id = this.ids[order] ?? "";
      if (orders.has(id)) continue;
      this.#seconds += 1;
      const modifiedAt =
        ageSeconds === null ? null : new Date(baseMs + (this.#seconds - ageSeconds) * 1000).toISOString();
      const before = this.latestOrders.get(id) ?? createTestLiveOrderInput({}, { id, tillId: this.tillIds[0] ?? "" });
      const after = orderChanges[change](before);
      const next =
        change === "repeat"
          ? after
          : { ...after, tillId: this.tillIds[till] ?? "", data: { ...after.data, modifiedAt } };
      this.latestOrders.set(id, next);
      orders.set(id, next);
    }
    return [...orders.values()];
  }

  async sendOrders(instance: number, orders: OrderLiveInput[]): Promise<string[]> {
    const applied = await sendTestLiveOrderUpsert(instances[instance] ?? orderLive, this.principal, ...orders);
    return applied.map(({ id }) => id);
  }

  /** Returns the last position of the location's stream. */
  async lastPosition(): Promise<number> {
    const [stream] = await orderLive.db.sql<{ position: number }[]>`
      select position from location_streams where location_id = ${this.locationId}`;
    return stream?.position ?? 0;
  }

  /** Returns the live orders with their revisions, including orders that no list or stream shows. */
  async storedRevisions(): Promise<string[]> {
    const orders = await orderLive.db.sql<{ id: string; hash: string }[]>`
      select id, revision_hash as hash from live_orders where location_id = ${this.locationId} and departed_at is null`;
    return orders.map(({ id, hash }) => `${id} ${hash}`).sort();
  }

  get now(): string {
    return new Date(baseMs + this.#seconds * 1000).toISOString();
  }

  /** Expects lists, events and streams to equal the model. */
  async expectModel(): Promise<void> {
    const { data, meta } = await orderLive.listOrders(this.principal, "?size=100");
    expect(data.map(({ id, revisionHash }) => `${id} ${revisionHash}`).sort()).toEqual(this.model.listed);
    expect(meta.totalCount).toBe(this.model.listed.length);
    const openShifts = await orderLive.db.sql<{ tillId: string }[]>`
      select till_id from open_shifts where location_id = ${this.locationId}`;
    expect(openShifts.map(({ tillId }) => tillId).sort()).toEqual(this.model.openTillIds);
    for (const tillId of this.tillIds) {
      const events = await orderLive.publishedShiftEvents(tillId);
      expect(events.map(({ position }) => position)).toEqual(
        [...new Set(events.map(({ position }) => position))].sort((a, b) => a - b),
      );
      expect(events.at(-1)?.isOpen ?? false).toBe(this.model.openTillIds.includes(tillId));
    }
    for (const [id, { events }] of this.model.orders) {
      const publishedEvents = await orderLive.publishedEvents(id);
      expect(publishedEvents.map(({ type, sequence }) => `${sequence} ${type}`)).toEqual(
        events.map((type, index) => `${index + 1} ${type}`),
      );
    }
    for (const stream of this.streams) {
      await eventually(
        "the stream to send all messages",
        () => streamedMessages(stream).length >= this.model.expectedMessages.length,
      );
      expect(streamedMessages(stream)).toEqual(this.model.expectedMessages);
      expect(stream.events.slice(1).map(({ id }) => id)).toEqual(
        this.model.expectedMessages.map((_, index) => `${this.locationId}:${index + 1}`),
      );
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.streams.map((stream) => stream.close()));
  }
}

const streamedMessages = (stream: ServerSentEventReader) =>
  stream.events
    .filter(({ type }) => type !== "ready")
    .map(({ type, data }) => `${type} ${data.id} ${data.revisionHash ?? data.reason}`);

type Command = fc.AsyncCommand<LiveOrderReferenceModel, LocationTrial>;

/**
 * An upsert request. Commands use the model of the trial instead of the argument from fast-check, because a command
 * with two concurrent requests replaces the model with the model of the outcome that occurred.
 */
class UpsertCommand implements Command {
  readonly instance: number;
  readonly inputs: OrderChangeInput[];
  constructor(instance: number, inputs: OrderChangeInput[]) {
    this.instance = instance;
    this.inputs = inputs;
  }
  check = () => true;
  async run(_: LiveOrderReferenceModel, trial: LocationTrial) {
    const orders = trial.composeOrders(this.inputs);
    const expected = orders.filter((order) => trial.model.upsert(order)).map(({ id }) => id);
    expect(await trial.sendOrders(this.instance, orders)).toEqual(expected);
  }
  toString = () => `upsert at ${this.instance}: ${JSON.stringify(this.inputs)}`;
}

class ConcurrentUpsertCommand implements Command {
  readonly requests: [OrderChangeInput[], OrderChangeInput[]];
  constructor(...requests: [OrderChangeInput[], OrderChangeInput[]]) {
    this.requests = requests;
  }
  check = () => true;
  async run(_: LiveOrderReferenceModel, trial: LocationTrial) {
    const requests = this.requests.map((inputs) => trial.composeOrders(inputs));
    const responses = await Promise.all(requests.map((orders, instance) => trial.sendOrders(instance, orders)));
    // Either request may have been applied first. The responses, the streamed messages and the stored revisions show
    // which one it was.
    const outcomes = [[0, 1] as const, [1, 0] as const].map((requestOrder) => {
      const model = trial.model.clone();
      const expected: string[][] = [];
      for (const index of requestOrder) {
        expected[index] = (requests[index] ?? []).filter((order) => model.upsert(order)).map(({ id }) => id);
      }
      return { model, expected };
    });
    const matching = outcomes.filter(({ expected }) => JSON.stringify(expected) === JSON.stringify(responses));
    expect(matching, JSON.stringify({ responses, outcomes })).not.toEqual([]);
    const [stream] = trial.streams;
    if (!stream) return;
    const position = await trial.lastPosition();
    await eventually("the stream to send the changes", () => streamedMessages(stream).length >= position);
    const observed = JSON.stringify([streamedMessages(stream), await trial.storedRevisions()]);
    const outcome = matching.find(
      ({ model }) => JSON.stringify([model.expectedMessages, model.liveRevisions]) === observed,
    );
    expect(outcome, JSON.stringify({ observed, matching })).toBeDefined();
    if (outcome) trial.model = outcome.model;
  }
  toString = () => `upsert at both: ${JSON.stringify(this.requests)}`;
}

class FinishTillCommand implements Command {
  readonly till: number;
  readonly reportedOrders: number[];
  constructor(till: number, reportedOrders: number[]) {
    this.till = till;
    this.reportedOrders = reportedOrders;
  }
  check = () => true;
  async run(_: LiveOrderReferenceModel, trial: LocationTrial) {
    const tillId = trial.tillIds[this.till] ?? "";
    const orderIds = this.reportedOrders.map((order) => trial.ids[order] ?? "");
    trial.model.finishTill(tillId, orderIds, trial.now);
    await orderLive.finishTill({ locationId: trial.locationId, tillId, orderIds }, trial.now);
  }
  toString = () => `finish till ${this.till} with ${this.reportedOrders}`;
}

const changeArbitrary = fc.record({
  order: fc.nat({ max: 2 }),
  change: fc.constantFrom(...(Object.keys(orderChanges) as (keyof typeof orderChanges)[])),
  ageSeconds: fc.oneof(
    { weight: 5, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constantFrom(null, 1, 4, 30) },
  ),
  till: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat({ max: 3 }) }),
});
const requestArbitrary = fc.array(changeArbitrary, { minLength: 1, maxLength: 3 });
const commandsArbitrary = fc.commands(
  [
    fc.tuple(fc.nat({ max: 1 }), requestArbitrary).map(([instance, orders]) => new UpsertCommand(instance, orders)),
    fc.tuple(fc.nat({ max: 1 }), requestArbitrary).map(([instance, orders]) => new UpsertCommand(instance, orders)),
    fc.tuple(requestArbitrary, requestArbitrary).map((requests) => new ConcurrentUpsertCommand(...requests)),
    fc
      .tuple(fc.nat({ max: 3 }), fc.uniqueArray(fc.nat({ max: 2 })))
      .map(([till, reportedOrders]) => new FinishTillCommand(till, reportedOrders)),
  ],
  { maxCommands: 16 },
);

it(
  "stores, publishes and streams random concurrent changes through two instances as the model expects",
  async () => {
    await fc.assert(
      fc.asyncProperty(commandsArbitrary, async (commands) => {
        const trial = await LocationTrial.start();
        try {
          await fc.asyncModelRun(() => ({ model: trial.model, real: trial }), commands);
          await trial.expectModel();
        } finally {
          await trial.end();
        }
      }),
      { numRuns: runCount, endOnFailure: true },
    );
  },
  60_000 + runCount * 4_000,
);
