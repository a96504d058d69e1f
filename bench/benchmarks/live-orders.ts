import { orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import { type BaselineServer, startLiveOrderBaseline } from "../baseline-server.ts";
import type { BenchEnvironment } from "../bench-environment.ts";
import type { BenchLocation } from "../bench-location.ts";
import type { Benchmark } from "../benchmark.ts";
import { type BenchmarkFigure, type MeasurementPair, summarizeMeasurements } from "../benchmark-figure.ts";
import type { LiveOrderLoadResult } from "../load/load-jobs.ts";
import type { BenchProductRole, ProductUnderLoad } from "../product-under-load.ts";

const upsertsPerSecond = 200;
const orderCount = 50;
const readerCount = 50;

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
interface LiveOrderServer {
  origin: string;
  headers: Record<string, string>;
  paths: { orders: string; stream: string };
  cpuSeconds(): number;
}

interface LiveOrderMeasurement extends LiveOrderLoadResult {
  /** CPU microseconds of each change at each reader. */
  cpuMicrosecondsPerDelivery: number;
}

export const liveOrdersBenchmark: Benchmark = {
  id: "g",
  title: `Live orders: ${upsertsPerSecond} upserts a second over ${orderCount} orders, followed by ${readerCount} readers`,
  limit: "plain node:http that keeps what it is sent as one durable row and writes it to every reader",
  async run(lab, tell) {
    const figures: BenchmarkFigure[] = [];
    const notes: string[] = [];
    const bare = await startLiveOrderBaseline(lab);
    try {
      for (const shape of ["split", "all in one"] as const) {
        const { product, shop } = await lab.sharedProduct(shape);
        const memory = [describeMemory(product)];
        const onTurn = () => memory.push(describeMemory(product));
        figures.push(...(await compareLiveOrders(lab, { what: shape, product, shop, bare, tell, onTurn })));
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

interface LiveOrderComparison {
  what: string;
  product: ProductUnderLoad;
  shop: BenchLocation;
  bare: BaselineServer;
  tell(detail: string): void;
  /** Called after each turn of the product's. */
  onTurn(): void;
}

async function compareLiveOrders(
  lab: BenchEnvironment,
  { what, product, shop, bare, tell, onTurn }: LiveOrderComparison,
): Promise<BenchmarkFigure[]> {
  const repetitions = lab.isQuick ? 2 : 5;
  const ours: LiveOrderServer = {
    origin: product.url,
    headers: shop.headers,
    paths: { orders: "/v1/orders-live/", stream: "/v1/orders-live/stream" },
    cpuSeconds: product.cpuSeconds,
  };
  const limit: LiveOrderServer = {
    origin: bare.url,
    headers: {},
    paths: { orders: "/", stream: "/stream" },
    cpuSeconds: bare.cpuSeconds,
  };
  const runs: { ours: LiveOrderMeasurement; limit: LiveOrderMeasurement }[] = [];
  tell(`${what}: warming up`);
  for (const side of [ours, limit]) await measureLiveOrders(lab, side);
  onTurn();
  for (let turn = 1; turn <= repetitions; turn += 1) {
    tell(`${what}: ${turn} of ${repetitions}`);
    runs.push({ ours: await measureLiveOrders(lab, ours), limit: await measureLiveOrders(lab, limit) });
    onTurn();
  }
  const figure = (name: string, unit: string, of: (measured: LiveOrderMeasurement) => number) => {
    const pairs: MeasurementPair[] = runs.map((run) => ({ ours: of(run.ours), limit: of(run.limit) }));
    return summarizeMeasurements(pairs, { what: `${what}: ${name}`, unit });
  };
  return [
    figure("from the reply to the reader, p50", "ms", ({ deliveryDelayMs }) => clampDelayMs(deliveryDelayMs.p50)),
    figure("from the reply to the reader, p99", "ms", ({ deliveryDelayMs }) => clampDelayMs(deliveryDelayMs.p99)),
    figure("from the upsert to its reply, p99", "ms", ({ responseTimeMs }) => responseTimeMs.p99),
    figure("CPU of each change at each reader", "us", ({ cpuMicrosecondsPerDelivery }) => cpuMicrosecondsPerDelivery),
  ];
}

/** A reader may have a change before its sender has the reply: that is less than can be told, and no ratio's divisor. */
const clampDelayMs = (milliseconds: number) => Math.max(milliseconds, 0.01);

async function measureLiveOrders(
  lab: BenchEnvironment,
  { origin, headers, paths, cpuSeconds }: LiveOrderServer,
): Promise<LiveOrderMeasurement> {
  const seconds = lab.isQuick ? 2 : 10;
  const before = cpuSeconds();
  const answer = await lab.loadGenerator.run("follow", {
    ...{
      origin,
      headers,
      paths,
      template,
      orders: orderCount,
      perSecond: upsertsPerSecond,
      seconds,
      readers: readerCount,
    },
  });
  const cost = ((cpuSeconds() - before) * 1e6) / (answer.upserts * readerCount);
  return { ...answer, cpuMicrosecondsPerDelivery: cost };
}

/** Of the processes that changes of live orders go through. */
const rolesUnderLoad = new Set<BenchProductRole>(["all", "gateway", "order-live", "webhooks"]);

function describeMemory({ processes }: ProductUnderLoad): string {
  return processes
    .filter(({ role }) => rolesUnderLoad.has(role))
    .map(({ role, memoryMegabytes }) => `${role} ${Math.round(memoryMegabytes().now)}`)
    .join(", ");
}
