import { orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import { type BenchServerProcess, startLiveOrderBaselineServer } from "../baseline-server.ts";
import type { BenchEnvironment } from "../bench-environment.ts";
import type { BenchLocation } from "../bench-location.ts";
import type { BenchPragmaDeployment, BenchPragmaProcessRole } from "../bench-pragma-deployment.ts";
import type { BenchmarkDefinition } from "../benchmark.ts";
import {
  type BenchmarkMeasurementPair,
  computeBenchmarkComparison,
  type ProductToBaselineComparison,
} from "../benchmark-figure.ts";
import type { BenchLiveOrderLoadResult } from "../load/load-jobs.ts";

const upsertsPerSecond = 200;
const orderCount = 50;
const readerCount = 50;

/**
 * The order to copy. Each copy has a new revision hash. The product rows contain this hash too, so that each copy
 * changes the product rows and therefore causes an event.
 */
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

/** One of the two compared servers: the product or the baseline. */
interface LiveOrderServer {
  origin: string;
  headers: Record<string, string>;
  paths: { orders: string; stream: string };
  cpuSeconds(): number;
}

interface LiveOrderMeasurement extends BenchLiveOrderLoadResult {
  /** CPU time of the server in microseconds, divided by the number of changes and by the number of readers. */
  cpuMicrosecondsPerDelivery: number;
}

export const liveOrdersBenchmark: BenchmarkDefinition = {
  id: "g",
  title: `Live orders: ${upsertsPerSecond} upserts a second over ${orderCount} orders, with ${readerCount} stream readers`,
  baseline: "plain node:http that stores each body as one durable row and writes it to every reader",
  async run(environment, reportProgress) {
    const figures: ProductToBaselineComparison[] = [];
    const notes: string[] = [];
    const baselineServer = await startLiveOrderBaselineServer(environment);
    try {
      for (const shape of ["split", "all in one"] as const) {
        const { product, benchLocation } = await environment.getSharedPragma(shape);
        const memory = [describeMemory(product)];
        const onRepetition = () => memory.push(describeMemory(product));
        figures.push(
          ...(await compareLiveOrders(environment, {
            label: shape,
            product,
            benchLocation,
            baselineServer,
            reportProgress,
            onRepetition,
          })),
        );
        notes.push(`Megabytes before, and after each repetition, ${shape}: ${memory.join("; ")}`);
      }
    } finally {
      await baselineServer.stop();
    }
    notes.push(
      "CPU of the Node.js processes only. The load generator uses the same machine; its CPU time is in the delays of both sides.",
    );
    return { figures, notes };
  },
};

interface LiveOrderComparison {
  label: string;
  product: BenchPragmaDeployment;
  benchLocation: BenchLocation;
  baselineServer: BenchServerProcess;
  reportProgress(detail: string): void;
  /** Called after the warm-up and after each repetition. */
  onRepetition(): void;
}

async function compareLiveOrders(
  environment: BenchEnvironment,
  { label, product, benchLocation, baselineServer, reportProgress, onRepetition }: LiveOrderComparison,
): Promise<ProductToBaselineComparison[]> {
  const repetitions = environment.isQuick ? 2 : 5;
  const ours: LiveOrderServer = {
    origin: product.url,
    headers: benchLocation.headers,
    paths: { orders: "/v1/orders-live/", stream: "/v1/orders-live/stream" },
    cpuSeconds: product.cpuSeconds,
  };
  const baseline: LiveOrderServer = {
    origin: baselineServer.url,
    headers: {},
    paths: { orders: "/", stream: "/stream" },
    cpuSeconds: baselineServer.cpuSeconds,
  };
  const runs: { ours: LiveOrderMeasurement; baseline: LiveOrderMeasurement }[] = [];
  reportProgress(`${label}: warming up`);
  for (const side of [ours, baseline]) await measureLiveOrders(environment, side);
  onRepetition();
  for (let repetition = 1; repetition <= repetitions; repetition += 1) {
    reportProgress(`${label}: ${repetition} of ${repetitions}`);
    runs.push({
      ours: await measureLiveOrders(environment, ours),
      baseline: await measureLiveOrders(environment, baseline),
    });
    onRepetition();
  }
  const createFigure = (name: string, unit: string, of: (measured: LiveOrderMeasurement) => number) => {
    const pairs: BenchmarkMeasurementPair[] = runs.map((run) => ({ ours: of(run.ours), baseline: of(run.baseline) }));
    return computeBenchmarkComparison(pairs, { label: `${label}: ${name}`, unit });
  };
  return [
    createFigure("from the response to the reader, p50", "ms", ({ deliveryDelayMs }) =>
      clampDelayMs(deliveryDelayMs.p50),
    ),
    createFigure("from the response to the reader, p99", "ms", ({ deliveryDelayMs }) =>
      clampDelayMs(deliveryDelayMs.p99),
    ),
    createFigure("from the upsert to its response, p99", "ms", ({ responseTimeMs }) => responseTimeMs.p99),
    createFigure("CPU per change and reader", "us", ({ cpuMicrosecondsPerDelivery }) => cpuMicrosecondsPerDelivery),
  ];
}

/** Returns the delay, but at least 0.01 ms: a delay can be 0, and the divisor of a ratio must not be 0. */
const clampDelayMs = (milliseconds: number) => Math.max(milliseconds, 0.01);

async function measureLiveOrders(
  environment: BenchEnvironment,
  { origin, headers, paths, cpuSeconds }: LiveOrderServer,
): Promise<LiveOrderMeasurement> {
  const seconds = environment.isQuick ? 2 : 10;
  const before = cpuSeconds();
  const result = await environment.loadGenerator.run("follow", {
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
  const cost = ((cpuSeconds() - before) * 1e6) / (result.upserts * readerCount);
  return { ...result, cpuMicrosecondsPerDelivery: cost };
}

/** The processes that handle changes of live orders. */
const rolesUnderLoad = new Set<BenchPragmaProcessRole>(["all", "gateway", "order-live", "webhooks"]);

function describeMemory({ processes }: BenchPragmaDeployment): string {
  return processes
    .filter(({ role }) => rolesUnderLoad.has(role))
    .map(({ role, memoryMegabytes }) => `${role} ${Math.round(memoryMegabytes().now)}`)
    .join(", ");
}
