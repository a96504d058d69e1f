import { randomUUID } from "node:crypto";
import type { OrderLiveInput } from "@pragma/contracts/order-live";
import type { Principal } from "@pragma/contracts/principal";
import type { EventStreamReader } from "@pragma/runtime/testing/event-stream-reader";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { TestService } from "@pragma/runtime/testing/test-service";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { changeLiveOrderInput, createLiveOrderInput, createTestProductRow } from "./testing/order-fixtures.ts";
import { LiveOrderModel } from "./testing/order-model.ts";
import {
  createPosPrincipal,
  openStreamAt,
  startTestOrderLive,
  type TestOrderLive,
  upsertOrdersAt,
} from "./testing/start-test-order-live.ts";

let orderLive: TestOrderLive;
let instances: TestService[];
beforeAll(async () => {
  orderLive = await startTestOrderLive();
  instances = [orderLive, await orderLive.startAnotherInstance()];
});
afterAll(() => orderLive.remove());

const runs = Number(process.env.LIVE_RUNS ?? 15);

/** What a point of sale, a slow network or a mistaken client does to an order. */
const orderChanges = {
  addRow: (order) =>
    changeLiveOrderInput(order, { productRowList: [...order.data.productRowList, createTestProductRow()] }),
  discount: (order) => changeLiveOrderInput(order, { productRowList: order.data.productRowList.map(withDiscount) }),
  payInPart: (order) => changeLiveOrderInput(order, { leftToPay: order.data.leftToPay - 100 }),
  pay: (order) => changeLiveOrderInput(order, { isPaid: true, leftToPay: 0 }),
  cancel: (order) => changeLiveOrderInput(order, { isCanceled: true }),
  transfer: (order) => changeLiveOrderInput(order, { isTransferred: true }),
  close: (order) => changeLiveOrderInput(order, { manuallyClosed: true }),
  reopen: (order) =>
    changeLiveOrderInput(order, {
      isPaid: false,
      isCanceled: false,
      isTransferred: false,
      manuallyClosed: false,
      isTraining: false,
    }),
  train: (order) => changeLiveOrderInput(order, { isTraining: true }),
  payAndCancel: (order) => changeLiveOrderInput(order, { isPaid: true, isCanceled: true, isTransferred: true }),
  repeat: (order) => order,
} satisfies Record<string, (order: OrderLiveInput) => OrderLiveInput>;

const withDiscount = (row: OrderLiveInput["data"]["productRowList"][number]) => ({
  ...row,
  totalDiscount: row.totalDiscount + 1,
});

/** One order of a call: which, what became of it, how late it comes, and in which till it is said to be. */
interface OrderChangeInput {
  order: number;
  turn: keyof typeof orderChanges;
  /** Seconds before now at which the point of sale says that it changed; null when it says nothing. */
  age: number | null;
  till: number;
}

const baseMs = Date.parse("2026-05-29T10:00:00.000Z");

/** One location: what it should be like, and the way to it. */
class LocationTrial {
  readonly principal: Principal;
  readonly locationId: string;
  readonly ids = Array.from({ length: 3 }, () => randomUUID());
  readonly tillIds = Array.from({ length: 4 }, () => randomUUID());
  readonly latestOrders = new Map<string, OrderLiveInput>();
  readonly streams: EventStreamReader[];
  model = new LiveOrderModel();
  #seconds = 0;

  private constructor({ principal, locationId }: ReturnType<typeof createPosPrincipal>, streams: EventStreamReader[]) {
    this.principal = principal;
    this.locationId = locationId;
    this.streams = streams;
  }

  static async start(): Promise<LocationTrial> {
    const shop = createPosPrincipal();
    const streams = await Promise.all(instances.map((instance) => openStreamAt(instance, shop.principal)));
    await Promise.all(streams.map((stream) => stream.waitForEvents(1, "ready")));
    return new LocationTrial(shop, streams);
  }

  /** The orders of a call as the point of sale sends them. */
  composeOrders(sent: OrderChangeInput[]): OrderLiveInput[] {
    const orders = new Map<string, OrderLiveInput>();
    for (const { order, turn, age, till } of sent) {
      const id = this.ids[order] ?? "";
      if (orders.has(id)) continue;
      this.#seconds += 1;
      const modifiedAt = age === null ? null : new Date(baseMs + (this.#seconds - age) * 1000).toISOString();
      const before = this.latestOrders.get(id) ?? createLiveOrderInput({}, { id, tillId: this.tillIds[0] ?? "" });
      const after = orderChanges[turn](before);
      const next =
        turn === "repeat" ? after : { ...after, tillId: this.tillIds[till] ?? "", data: { ...after.data, modifiedAt } };
      this.latestOrders.set(id, next);
      orders.set(id, next);
    }
    return [...orders.values()];
  }

  async sendOrders(instance: number, orders: OrderLiveInput[]): Promise<string[]> {
    const taken = await upsertOrdersAt(instances[instance] ?? orderLive, this.principal, ...orders);
    return taken.map(({ id }) => id);
  }

  /** Of the last change that a stream has to tell. */
  async lastPosition(): Promise<number> {
    const [stream] = await orderLive.db.sql<{ position: number }[]>`
      select position from streams where location_id = ${this.locationId}`;
    return stream?.position ?? 0;
  }

  /** The live orders with their revisions, those among them that nothing shows. */
  async storedRevisions(): Promise<string[]> {
    const orders = await orderLive.db.sql<{ id: string; hash: string }[]>`
      select id, revision_hash as hash from orders where location_id = ${this.locationId} and left_at is null`;
    return orders.map(({ id, hash }) => `${id} ${hash}`).sort();
  }

  get now(): string {
    return new Date(baseMs + this.#seconds * 1000).toISOString();
  }

  /** Everything that can be seen is as it should be. */
  async expectModel(): Promise<void> {
    const { data, meta } = await orderLive.listOrders(this.principal, "?size=100");
    expect(data.map(({ id, revisionHash }) => `${id} ${revisionHash}`).sort()).toEqual(this.model.listed);
    expect(meta.totalCount).toBe(this.model.listed.length);
    for (const [id, { events }] of this.model.orders) {
      const told = await orderLive.publishedEvents(id);
      expect(told.map(({ type, sequence }) => `${sequence} ${type}`)).toEqual(
        events.map((type, index) => `${index + 1} ${type}`),
      );
    }
    for (const stream of this.streams) {
      await eventually(
        "the stream to have said everything",
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

const streamedMessages = (stream: EventStreamReader) =>
  stream.events
    .filter(({ type }) => type !== "ready")
    .map(({ type, data }) => `${type} ${data.id} ${data.revisionHash ?? data.reason}`);

type Command = fc.AsyncCommand<LiveOrderModel, LocationTrial>;

/** Commands keep the model in the trial: after two calls at once, it is whichever of two that agrees. */
class UpsertCommand implements Command {
  readonly instance: number;
  readonly changeArbitrary: OrderChangeInput[];
  constructor(instance: number, sent: OrderChangeInput[]) {
    this.instance = instance;
    this.changeArbitrary = sent;
  }
  check = () => true;
  async run(_: LiveOrderModel, trial: LocationTrial) {
    const orders = trial.composeOrders(this.changeArbitrary);
    const expected = orders.filter((order) => trial.model.upsert(order)).map(({ id }) => id);
    expect(await trial.sendOrders(this.instance, orders)).toEqual(expected);
  }
  toString = () => `upsert at ${this.instance}: ${JSON.stringify(this.changeArbitrary)}`;
}

class ConcurrentUpsertCommand implements Command {
  readonly sent: [OrderChangeInput[], OrderChangeInput[]];
  constructor(...sent: [OrderChangeInput[], OrderChangeInput[]]) {
    this.sent = sent;
  }
  check = () => true;
  async run(_: LiveOrderModel, trial: LocationTrial) {
    const calls = this.sent.map((sent) => trial.composeOrders(sent));
    const replies = await Promise.all(calls.map((orders, instance) => trial.sendOrders(instance, orders)));
    // One came before the other: which, is told by the stream, and of what no stream shows by what is stored.
    const outcomes = [[0, 1] as const, [1, 0] as const].map((turns) => {
      const model = trial.model.clone();
      const expected: string[][] = [];
      for (const turn of turns) {
        expected[turn] = (calls[turn] ?? []).filter((order) => model.upsert(order)).map(({ id }) => id);
      }
      return { model, expected };
    });
    const agreeing = outcomes.filter(({ expected }) => JSON.stringify(expected) === JSON.stringify(replies));
    expect(agreeing, JSON.stringify({ replies, outcomes })).not.toEqual([]);
    const [stream] = trial.streams;
    if (!stream) return;
    const position = await trial.lastPosition();
    await eventually("the stream to tell", () => streamedMessages(stream).length >= position);
    const seen = JSON.stringify([streamedMessages(stream), await trial.storedRevisions()]);
    const found = agreeing.find(({ model }) => JSON.stringify([model.expectedMessages, model.liveRevisions]) === seen);
    expect(found, JSON.stringify({ seen, agreeing })).toBeDefined();
    if (found) trial.model = found.model;
  }
  toString = () => `upsert at both: ${JSON.stringify(this.sent)}`;
}

class FinishTillCommand implements Command {
  readonly till: number;
  readonly held: number[];
  constructor(till: number, held: number[]) {
    this.till = till;
    this.held = held;
  }
  check = () => true;
  async run(_: LiveOrderModel, trial: LocationTrial) {
    const tillId = trial.tillIds[this.till] ?? "";
    const held = this.held.map((order) => trial.ids[order] ?? "").filter((id) => trial.model.orders.has(id));
    trial.model.finishTill(tillId, held, trial.now);
    await orderLive.finishTill({ locationId: trial.locationId, tillId, orderIds: held }, trial.now);
  }
  toString = () => `finish till ${this.till} with ${this.held}`;
}

const sent = fc.record({
  order: fc.nat({ max: 2 }),
  turn: fc.constantFrom(...(Object.keys(orderChanges) as (keyof typeof orderChanges)[])),
  age: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(null, 1, 4, 30) }),
  till: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat({ max: 3 }) }),
});
const callArbitrary = fc.array(sent, { minLength: 1, maxLength: 3 });
const commandsArbitrary = fc.commands(
  [
    fc.tuple(fc.nat({ max: 1 }), callArbitrary).map(([instance, orders]) => new UpsertCommand(instance, orders)),
    fc.tuple(fc.nat({ max: 1 }), callArbitrary).map(([instance, orders]) => new UpsertCommand(instance, orders)),
    fc.tuple(callArbitrary, callArbitrary).map((calls) => new ConcurrentUpsertCommand(...calls)),
    fc
      .tuple(fc.nat({ max: 3 }), fc.uniqueArray(fc.nat({ max: 2 })))
      .map(([till, held]) => new FinishTillCommand(till, held)),
  ],
  { maxCommands: 16 },
);

it(
  "whatever is sent, to two instances and at once: what is stored, told and streamed is as the rules say",
  async () => {
    await fc.assert(
      fc.asyncProperty(commandsArbitrary, async (steps) => {
        const trial = await LocationTrial.start();
        try {
          await fc.asyncModelRun(() => ({ model: trial.model, real: trial }), steps);
          await trial.expectModel();
        } finally {
          await trial.end();
        }
      }),
      { numRuns: runs, endOnFailure: true },
    );
  },
  60_000 + runs * 4_000,
);
