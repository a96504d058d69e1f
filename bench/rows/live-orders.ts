import { orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import { type BareServer, startBareStream } from "../bare-server.ts";
import { type Figure, figureOf, type Pair } from "../figure.ts";
import type { Lab } from "../lab.ts";
import type { FollowingAnswer } from "../load/jobs.ts";
import type { Product, Role } from "../product.ts";
import type { Row } from "../row.ts";
import type { Shop } from "../shop.ts";

const perSecond = 200;
const orders = 50;
const readers = 50;

/** Its revision hash is in a product, too: whoever puts another in makes another order of it, which gives an event. */
const template = JSON.stringify({
  ...orderLiveInputExample,
  data: {
    ...orderLiveInputExample.data,
    productRowList: orderLiveInputExample.data.productRowList.map((row) => ({
      ...row,
      comment: orderLiveInputExample.revisionHash,
    })),
  },
});

/** One side of the comparison, and what it used up. */
interface Side {
  origin: string;
  headers: Record<string, string>;
  paths: { orders: string; stream: string };
  cpuSeconds(): number;
}

interface Measured extends FollowingAnswer {
  /** CPU microseconds of each change at each reader. */
  cost: number;
}

export const liveOrders: Row = {
  id: "g",
  title: `Live orders: ${perSecond} upserts a second over ${orders} orders, followed by ${readers} readers`,
  limit: "plain node:http that keeps what it is sent as one durable row and writes it to every reader",
  async run(lab, tell) {
    const figures: Figure[] = [];
    const notes: string[] = [];
    const bare = await startBareStream(lab);
    try {
      for (const shape of ["split", "all in one"] as const) {
        const { product, shop } = await lab.product(shape);
        const memory = [memoryOf(product)];
        const onTurn = () => memory.push(memoryOf(product));
        figures.push(...(await compare(lab, { what: shape, product, shop, bare, tell, onTurn })));
        notes.push(`Megabytes before, and after each turn, ${shape}: ${memory.join("; ")}`);
      }
    } finally {
      await bare.stop();
    }
    notes.push(
      "CPU of the node processes only. The load's own CPU, on the same machine, is in the delays of both sides.",
    );
    return { figures, notes };
  },
};

interface Setting {
  what: string;
  product: Product;
  shop: Shop;
  bare: BareServer;
  tell(detail: string): void;
  /** Called after each turn of the product's. */
  onTurn(): void;
}

async function compare(lab: Lab, { what, product, shop, bare, tell, onTurn }: Setting): Promise<Figure[]> {
  const repetitions = lab.isQuick ? 2 : 5;
  const ours: Side = {
    origin: product.url,
    headers: shop.headers,
    paths: { orders: "/v1/orders-live/", stream: "/v1/orders-live/stream" },
    cpuSeconds: product.cpuSeconds,
  };
  const limit: Side = {
    origin: bare.url,
    headers: {},
    paths: { orders: "/", stream: "/stream" },
    cpuSeconds: bare.cpuSeconds,
  };
  const runs: { ours: Measured; limit: Measured }[] = [];
  tell(`${what}: warming up`);
  for (const side of [ours, limit]) await measure(lab, side);
  onTurn();
  for (let turn = 1; turn <= repetitions; turn += 1) {
    tell(`${what}: ${turn} of ${repetitions}`);
    runs.push({ ours: await measure(lab, ours), limit: await measure(lab, limit) });
    onTurn();
  }
  const figure = (name: string, unit: string, of: (measured: Measured) => number) => {
    const pairs: Pair[] = runs.map((run) => ({ ours: of(run.ours), limit: of(run.limit) }));
    return figureOf(pairs, { what: `${what}: ${name}`, unit });
  };
  return [
    figure("from the reply to the reader, p50", "ms", ({ heard }) => atLeast(heard.p50)),
    figure("from the reply to the reader, p99", "ms", ({ heard }) => atLeast(heard.p99)),
    figure("from the upsert to its reply, p99", "ms", ({ answered }) => answered.p99),
    figure("CPU of each change at each reader", "us", ({ cost }) => cost),
  ];
}

/** A reader may have a change before its sender has the reply: that is less than can be told, and no ratio's divisor. */
const atLeast = (milliseconds: number) => Math.max(milliseconds, 0.01);

async function measure(lab: Lab, { origin, headers, paths, cpuSeconds }: Side): Promise<Measured> {
  const seconds = lab.isQuick ? 2 : 10;
  const before = cpuSeconds();
  const answer = await lab.load.run("follow", {
    ...{ origin, headers, paths, template, orders, perSecond, seconds, readers },
  });
  const cost = ((cpuSeconds() - before) * 1e6) / (answer.upserts * readers);
  return { ...answer, cost };
}

/** Of the processes that changes of live orders go through. */
const busy = new Set<Role>(["all", "gateway", "order-live", "webhooks"]);

function memoryOf({ processes }: Product): string {
  return processes
    .filter(({ role }) => busy.has(role))
    .map(({ role, memory }) => `${role} ${Math.round(memory().now)}`)
    .join(", ");
}
