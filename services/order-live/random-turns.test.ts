import { randomUUID } from "node:crypto";
import type { OrderLiveInput } from "@pragma/contracts/order-live";
import type { Principal } from "@pragma/contracts/principal";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { TestStream } from "@pragma/runtime/testing/server-sent-events";
import type { TestService } from "@pragma/runtime/testing/test-service";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { changed, makeOrder, makeRow } from "./testing/make-order.ts";
import { OrderModel } from "./testing/order-model.ts";
import { posKey, startOrderLive, streamAt, type TestOrderLive, upsertAt } from "./testing/start-order-live.ts";

let orderLive: TestOrderLive;
let instances: TestService[];
beforeAll(async () => {
  orderLive = await startOrderLive();
  instances = [orderLive, await orderLive.another()];
});
afterAll(() => orderLive.remove());

const runs = Number(process.env.LIVE_RUNS ?? 15);

/** What a point of sale, a slow network or a mistaken client does to an order. */
const turns = {
  addRow: (order) => changed(order, { productRowList: [...order.data.productRowList, makeRow()] }),
  discount: (order) => changed(order, { productRowList: order.data.productRowList.map(withDiscount) }),
  payInPart: (order) => changed(order, { leftToPay: order.data.leftToPay - 100 }),
  pay: (order) => changed(order, { isPaid: true, leftToPay: 0 }),
  cancel: (order) => changed(order, { isCanceled: true }),
  transfer: (order) => changed(order, { isTransferred: true }),
  close: (order) => changed(order, { manuallyClosed: true }),
  reopen: (order) =>
    changed(order, {
      isPaid: false,
      isCanceled: false,
      isTransferred: false,
      manuallyClosed: false,
      isTraining: false,
    }),
  train: (order) => changed(order, { isTraining: true }),
  payAndCancel: (order) => changed(order, { isPaid: true, isCanceled: true, isTransferred: true }),
  repeat: (order) => order,
} satisfies Record<string, (order: OrderLiveInput) => OrderLiveInput>;

const withDiscount = (row: OrderLiveInput["data"]["productRowList"][number]) => ({
  ...row,
  totalDiscount: row.totalDiscount + 1,
});

/** One order of a call: which, what became of it, how late it comes, and in which till it is said to be. */
interface Sent {
  order: number;
  turn: keyof typeof turns;
  /** Seconds before now at which the point of sale says that it changed; null when it says nothing. */
  age: number | null;
  till: number;
}

const base = Date.parse("2026-05-29T10:00:00.000Z");

/** One location: what it should be like, and the way to it. */
class Trial {
  readonly principal: Principal;
  readonly locationId: string;
  readonly ids = Array.from({ length: 3 }, () => randomUUID());
  readonly tillIds = Array.from({ length: 4 }, () => randomUUID());
  readonly latest = new Map<string, OrderLiveInput>();
  readonly streams: TestStream[];
  model = new OrderModel();
  #seconds = 0;

  private constructor({ principal, locationId }: ReturnType<typeof posKey>, streams: TestStream[]) {
    this.principal = principal;
    this.locationId = locationId;
    this.streams = streams;
  }

  static async begin(): Promise<Trial> {
    const shop = posKey();
    const streams = await Promise.all(instances.map((instance) => streamAt(instance, shop.principal)));
    await Promise.all(streams.map((stream) => stream.received(1, "ready")));
    return new Trial(shop, streams);
  }

  /** The orders of a call as the point of sale sends them. */
  compose(sent: Sent[]): OrderLiveInput[] {
    const orders = new Map<string, OrderLiveInput>();
    for (const { order, turn, age, till } of sent) {
      const id = this.ids[order] ?? "";
      if (orders.has(id)) continue;
      this.#seconds += 1;
      const modifiedAt = age === null ? null : new Date(base + (this.#seconds - age) * 1000).toISOString();
      const before = this.latest.get(id) ?? makeOrder({}, { id, tillId: this.tillIds[0] ?? "" });
      const after = turns[turn](before);
      const next =
        turn === "repeat" ? after : { ...after, tillId: this.tillIds[till] ?? "", data: { ...after.data, modifiedAt } };
      this.latest.set(id, next);
      orders.set(id, next);
    }
    return [...orders.values()];
  }

  async send(instance: number, orders: OrderLiveInput[]): Promise<string[]> {
    const taken = await upsertAt(instances[instance] ?? orderLive, this.principal, ...orders);
    return taken.map(({ id }) => id);
  }

  /** Of the last change that a stream has to tell. */
  async position(): Promise<number> {
    const [stream] = await orderLive.db.sql<{ position: number }[]>`
      select position from streams where location_id = ${this.locationId}`;
    return stream?.position ?? 0;
  }

  /** The live orders with their revisions, those among them that nothing shows. */
  async revisions(): Promise<string[]> {
    const orders = await orderLive.db.sql<{ id: string; hash: string }[]>`
      select id, revision_hash as hash from orders where location_id = ${this.locationId} and left_at is null`;
    return orders.map(({ id, hash }) => `${id} ${hash}`).sort();
  }

  get now(): string {
    return new Date(base + this.#seconds * 1000).toISOString();
  }

  /** Everything that can be seen is as it should be. */
  async check(): Promise<void> {
    const { data, meta } = await orderLive.list(this.principal, "?size=100");
    expect(data.map(({ id, revisionHash }) => `${id} ${revisionHash}`).sort()).toEqual(this.model.listed);
    expect(meta.totalCount).toBe(this.model.listed.length);
    for (const [id, { events }] of this.model.orders) {
      const told = await orderLive.told(id);
      expect(told.map(({ type, sequence }) => `${sequence} ${type}`)).toEqual(
        events.map((type, index) => `${index + 1} ${type}`),
      );
    }
    for (const stream of this.streams) {
      await eventually("the stream to have said everything", () => said(stream).length >= this.model.said.length);
      expect(said(stream)).toEqual(this.model.said);
      expect(stream.events.slice(1).map(({ id }) => id)).toEqual(
        this.model.said.map((_, index) => `${this.locationId}:${index + 1}`),
      );
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.streams.map((stream) => stream.close()));
  }
}

const said = (stream: TestStream) =>
  stream.events
    .filter(({ type }) => type !== "ready")
    .map(({ type, data }) => `${type} ${data.id} ${data.revisionHash ?? data.reason}`);

type Command = fc.AsyncCommand<OrderModel, Trial>;

/** Commands keep the model in the trial: after two calls at once, it is whichever of two that agrees. */
class Upsert implements Command {
  readonly instance: number;
  readonly sent: Sent[];
  constructor(instance: number, sent: Sent[]) {
    this.instance = instance;
    this.sent = sent;
  }
  check = () => true;
  async run(_: OrderModel, trial: Trial) {
    const orders = trial.compose(this.sent);
    const expected = orders.filter((order) => trial.model.upsert(order)).map(({ id }) => id);
    expect(await trial.send(this.instance, orders)).toEqual(expected);
  }
  toString = () => `upsert at ${this.instance}: ${JSON.stringify(this.sent)}`;
}

class UpsertAtOnce implements Command {
  readonly sent: [Sent[], Sent[]];
  constructor(...sent: [Sent[], Sent[]]) {
    this.sent = sent;
  }
  check = () => true;
  async run(_: OrderModel, trial: Trial) {
    const calls = this.sent.map((sent) => trial.compose(sent));
    const replies = await Promise.all(calls.map((orders, instance) => trial.send(instance, orders)));
    // One came before the other: which, is told by the stream, and of what no stream shows by what is stored.
    const outcomes = [[0, 1] as const, [1, 0] as const].map((turns) => {
      const model = trial.model.copy();
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
    const position = await trial.position();
    await eventually("the stream to tell", () => said(stream).length >= position);
    const seen = JSON.stringify([said(stream), await trial.revisions()]);
    const found = agreeing.find(({ model }) => JSON.stringify([model.said, model.revisions]) === seen);
    expect(found, JSON.stringify({ seen, agreeing })).toBeDefined();
    if (found) trial.model = found.model;
  }
  toString = () => `upsert at both: ${JSON.stringify(this.sent)}`;
}

class FinishTill implements Command {
  readonly till: number;
  readonly held: number[];
  constructor(till: number, held: number[]) {
    this.till = till;
    this.held = held;
  }
  check = () => true;
  async run(_: OrderModel, trial: Trial) {
    const tillId = trial.tillIds[this.till] ?? "";
    const held = this.held.map((order) => trial.ids[order] ?? "").filter((id) => trial.model.orders.has(id));
    trial.model.finishTill(tillId, held, trial.now);
    await orderLive.finish({ locationId: trial.locationId, tillId, orderIds: held }, trial.now);
  }
  toString = () => `finish till ${this.till} with ${this.held}`;
}

const sent = fc.record({
  order: fc.nat({ max: 2 }),
  turn: fc.constantFrom(...(Object.keys(turns) as (keyof typeof turns)[])),
  age: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(null, 1, 4, 30) }),
  till: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat({ max: 3 }) }),
});
const call = fc.array(sent, { minLength: 1, maxLength: 3 });
const commands = fc.commands(
  [
    fc.tuple(fc.nat({ max: 1 }), call).map(([instance, orders]) => new Upsert(instance, orders)),
    fc.tuple(fc.nat({ max: 1 }), call).map(([instance, orders]) => new Upsert(instance, orders)),
    fc.tuple(call, call).map((calls) => new UpsertAtOnce(...calls)),
    fc.tuple(fc.nat({ max: 3 }), fc.uniqueArray(fc.nat({ max: 2 }))).map(([till, held]) => new FinishTill(till, held)),
  ],
  { maxCommands: 16 },
);

it(
  "whatever is sent, to two instances and at once: what is stored, told and streamed is as the rules say",
  async () => {
    await fc.assert(
      fc.asyncProperty(commands, async (steps) => {
        const trial = await Trial.begin();
        try {
          await fc.asyncModelRun(() => ({ model: trial.model, real: trial }), steps);
          await trial.check();
        } finally {
          await trial.end();
        }
      }),
      { numRuns: runs, endOnFailure: true },
    );
  },
  60_000 + runs * 4_000,
);
