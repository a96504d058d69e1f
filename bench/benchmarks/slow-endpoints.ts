import { type AddressInfo, createServer } from "node:net";
import { type BenchServerProcess, startBenchWebhookReceiver } from "../baseline-server.ts";
import type { BenchEnvironment } from "../bench-environment.ts";
import { type BenchLocation, createBenchLocation } from "../bench-location.ts";
import type { BenchPragmaDeployment } from "../bench-pragma-deployment.ts";
import type { BenchmarkDefinition } from "../benchmark.ts";
import { type BenchmarkMeasurementPair, computeBenchmarkComparison } from "../benchmark-figure.ts";
import { computePercentile } from "../measurement-spread.ts";
import {
  benchPaidLiveOrderJson,
  computeBenchWebhookDelaysMs,
  createBenchPaidOrderWebhooks,
  liveOrdersPath,
  waitForBenchWebhookArrivals,
} from "../webhook-subscription.ts";

const ordersPerSecond = 20;
const healthyEndpointCount = 5;

export const slowWebhookEndpointsBenchmark: BenchmarkDefinition = {
  id: "j",
  title: `From the response to a paid order to ${healthyEndpointCount} healthy endpoints of a location that also has 5 dead and 5 slow endpoints`,
  baseline: "the same healthy endpoints at a location without dead and slow endpoints",
  async run(environment, reportProgress) {
    const { product } = await environment.getSharedPragma("split");
    const receivers = await Promise.all(
      ["healthy", "failing"].map((name) => startBenchWebhookReceiver(environment, name)),
    );
    const [healthyReceiver, failingReceiver] = receivers as [BenchServerProcess, BenchServerProcess];
    try {
      const [healthyOnly, withFailing] = [await createBenchLocation(product), await createBenchLocation(product)];
      const healthyUrls = Array.from(
        { length: healthyEndpointCount },
        (_, index) => `${healthyReceiver.url}/healthy/${index}`,
      );
      const slowUrls = Array.from({ length: 5 }, (_, index) => `${failingReceiver.url}/slow/${index}`);
      const silentUrls = Array.from({ length: 3 }, (_, index) => `${failingReceiver.url}/silent/${index}`);
      const refusingUrls = (await findUnusedPorts(2)).map((port) => `http://127.0.0.1:${port}/refusing`);
      const subscriptions = [
        await createBenchPaidOrderWebhooks(product, healthyOnly, healthyUrls),
        await createBenchPaidOrderWebhooks(product, withFailing, [
          ...healthyUrls,
          ...slowUrls,
          ...silentUrls,
          ...refusingUrls,
        ]),
      ];
      const figures = await compareSlowEndpoints(environment, {
        product,
        healthyOnly,
        withFailing,
        receiver: healthyReceiver,
        reportProgress,
      });
      for (const subscription of subscriptions) await subscription.remove();
      const notes = [
        "Slow: responds after 3 s. Dead: three accept messages and never respond, two refuse connections.",
        `${ordersPerSecond} orders a second, each to all endpoints: ${ordersPerSecond * healthyEndpointCount} deliveries a second without, ${ordersPerSecond * (healthyEndpointCount + 10)} with. All runs without come first, since deliveries to slow endpoints continue after a run.`,
      ];
      return { figures, notes };
    } finally {
      for (const receiver of receivers) await receiver.stop();
    }
  },
};

/** Returns ports on which no server listens. */
async function findUnusedPorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    ports.push((server.address() as AddressInfo).port);
    await new Promise((resolve) => server.close(resolve));
  }
  return ports;
}

interface SlowEndpointsComparison {
  product: BenchPragmaDeployment;
  healthyOnly: BenchLocation;
  withFailing: BenchLocation;
  receiver: BenchServerProcess;
  reportProgress(detail: string): void;
}

async function compareSlowEndpoints(
  environment: BenchEnvironment,
  { product, healthyOnly, withFailing, receiver, reportProgress }: SlowEndpointsComparison,
) {
  const seconds = environment.isQuick ? 3 : 10;
  const repetitions = environment.isQuick ? 2 : 5;
  const measure = async ({ headers }: BenchLocation) => {
    const target = { origin: product.url, headers, path: liveOrdersPath };
    const { responseTimesByOrderId } = await environment.loadGenerator.run("pay", {
      ...target,
      template: benchPaidLiveOrderJson,
      perSecond: ordersPerSecond,
      seconds,
    });
    const delays = computeBenchWebhookDelaysMs(
      responseTimesByOrderId,
      await waitForBenchWebhookArrivals(receiver, responseTimesByOrderId.length * healthyEndpointCount),
    );
    return {
      p50: Math.max(0.01, computePercentile(delays, 0.5)),
      p99: Math.max(0.01, computePercentile(delays, 0.99)),
    };
  };
  const repeat = async (label: string, benchLocation: BenchLocation) => {
    reportProgress(`${label}: warming up`);
    await measure(benchLocation);
    const runs = [];
    for (let repetition = 1; repetition <= repetitions; repetition += 1) {
      reportProgress(`${label}: ${repetition} of ${repetitions}`);
      runs.push(await measure(benchLocation));
    }
    return runs;
  };
  const withoutRuns = await repeat("without", healthyOnly);
  const withFailingRuns = await repeat("with", withFailing);
  const createFigure = (label: "p50" | "p99") => {
    const pairs: BenchmarkMeasurementPair[] = withFailingRuns.map((run, index) => ({
      ours: run[label],
      baseline: withoutRuns[index]?.[label] ?? run[label],
    }));
    return computeBenchmarkComparison(pairs, {
      label: `from the response to a healthy receiver, ${label}`,
      unit: "ms",
    });
  };
  return [createFigure("p50"), createFigure("p99")];
}
