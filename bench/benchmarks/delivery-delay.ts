import { type BenchServerProcess, startBenchWebhookReceiver, startWebhookBaseline } from "../baseline-server.ts";
import type { BenchEnvironment } from "../bench-environment.ts";
import { type BenchLocation, createBenchLocation } from "../bench-location.ts";
import type { BenchPragmaDeployment } from "../bench-pragma-deployment.ts";
import type { BenchmarkDefinition } from "../benchmark.ts";
import {
  type BenchmarkMeasurementPair,
  computeBenchmarkComparison,
  type ProductToBaselineComparison,
} from "../benchmark-figure.ts";
import { computePercentile } from "../measurement-spread.ts";
import {
  benchPaidLiveOrderJson,
  computeBenchWebhookDelaysMs,
  createBenchPaidOrderWebhooks,
  liveOrdersPath,
  waitForBenchWebhookArrivals,
} from "../webhook-subscription.ts";

const ordersPerSecond = 200;

export const webhookDeliveryDelayBenchmark: BenchmarkDefinition = {
  id: "i",
  title: `From the response to a paid order to the request at its webhook receiver, at ${ordersPerSecond} orders a second`,
  baseline: "plain node:http that stores the order as one durable row and posts it with undici",
  async run(environment, reportProgress) {
    const receiver = await startBenchWebhookReceiver(environment, "delay");
    const endpoint = `${receiver.url}/healthy`;
    const baselineServer = await startWebhookBaseline(environment, endpoint);
    try {
      const figures: ProductToBaselineComparison[] = [];
      for (const shape of ["split", "all in one"] as const) {
        const { product } = await environment.getSharedPragma(shape);
        const benchLocation = await createBenchLocation(product);
        const subscription = await createBenchPaidOrderWebhooks(product, benchLocation, [endpoint]);
        figures.push(
          ...(await compareDeliveryDelay(environment, {
            label: shape,
            product,
            benchLocation,
            baselineServer,
            receiver,
            reportProgress,
          })),
        );
        await subscription.remove();
      }
      const notes = [
        "The load generator and the receiver use the same machine; their CPU time is in the delays of both sides.",
      ];
      return { figures, notes };
    } finally {
      await baselineServer.stop();
      await receiver.stop();
    }
  },
};

interface DeliveryDelayComparison {
  label: string;
  product: BenchPragmaDeployment;
  benchLocation: BenchLocation;
  baselineServer: BenchServerProcess;
  receiver: BenchServerProcess;
  reportProgress(detail: string): void;
}

async function compareDeliveryDelay(
  environment: BenchEnvironment,
  { label, product, benchLocation, baselineServer, receiver, reportProgress }: DeliveryDelayComparison,
): Promise<ProductToBaselineComparison[]> {
  const seconds = environment.isQuick ? 3 : 10;
  const repetitions = environment.isQuick ? 2 : 5;
  const measure = async (origin: string, path: string) => {
    const target = { origin, headers: benchLocation.headers, path };
    const { responseTimesByOrderId, responseTimeMs } = await environment.loadGenerator.run("pay", {
      ...target,
      template: benchPaidLiveOrderJson,
      perSecond: ordersPerSecond,
      seconds,
    });
    const delays = computeBenchWebhookDelaysMs(
      responseTimesByOrderId,
      await waitForBenchWebhookArrivals(receiver, responseTimesByOrderId.length),
    );
    // At least 0.01 ms, because the divisor of a ratio must not be 0. The delay is 0 if a message arrives before the
    // response.
    const clampedPercentile = (part: number) => Math.max(computePercentile(delays, part), 0.01);
    return { p50: clampedPercentile(0.5), p99: clampedPercentile(0.99), responseP99: responseTimeMs.p99 };
  };
  const ours = () => measure(product.url, liveOrdersPath);
  const baseline = () => measure(baselineServer.url, "/");
  reportProgress(`${label}: warming up`);
  await ours();
  await baseline();
  const runs: { ours: Awaited<ReturnType<typeof measure>>; baseline: Awaited<ReturnType<typeof measure>> }[] = [];
  for (let repetition = 1; repetition <= repetitions; repetition += 1) {
    reportProgress(`${label}: ${repetition} of ${repetitions}`);
    runs.push({ ours: await ours(), baseline: await baseline() });
  }
  const createFigure = (name: string, of: "p50" | "p99" | "responseP99") => {
    const pairs: BenchmarkMeasurementPair[] = runs.map((run) => ({ ours: run.ours[of], baseline: run.baseline[of] }));
    return computeBenchmarkComparison(pairs, { label: `${label}: ${name}`, unit: "ms" });
  };
  return [
    createFigure("from the response to the receiver, p50", "p50"),
    createFigure("from the response to the receiver, p99", "p99"),
    createFigure("from the request to the response, p99", "responseP99"),
  ];
}
