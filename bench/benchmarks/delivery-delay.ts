import { type BaselineServer, startBenchWebhookReceiver, startWebhookBaseline } from "../baseline-server.ts";
import type { BenchEnvironment } from "../bench-environment.ts";
import { type BenchLocation, createBenchLocation } from "../bench-location.ts";
import type { Benchmark } from "../benchmark.ts";
import { type BenchmarkFigure, type MeasurementPair, summarizeMeasurements } from "../benchmark-figure.ts";
import { percentile } from "../measurement-spread.ts";
import type { ProductUnderLoad } from "../product-under-load.ts";
import {
  computeDeliveryDelaysMs,
  liveOrdersPath,
  paidOrderJson,
  subscribeToPaidOrders,
  waitForWebhookArrivals,
} from "../webhook-subscription.ts";

const ordersPerSecond = 200;

export const deliveryDelayBenchmark: Benchmark = {
  id: "i",
  title: `From the reply to an order that is paid to the request at its receiver, at ${ordersPerSecond} orders a second`,
  limit: "plain node:http that keeps the order as one durable row, and posts it with undici",
  async run(lab, tell) {
    const receiver = await startBenchWebhookReceiver(lab, "delay");
    const endpoint = `${receiver.url}/healthy`;
    const bare = await startWebhookBaseline(lab, endpoint);
    try {
      const figures: BenchmarkFigure[] = [];
      for (const shape of ["split", "all in one"] as const) {
        const { product } = await lab.sharedProduct(shape);
        const shop = await createBenchLocation(product);
        const subscription = await subscribeToPaidOrders(product, shop, [endpoint]);
        figures.push(...(await compareDeliveryDelay(lab, { what: shape, product, shop, bare, receiver, tell })));
        await subscription.remove();
      }
      const notes = ["The load's and the receiver's own CPU, on the same machine, is in the delays of both sides."];
      return { figures, notes };
    } finally {
      await bare.stop();
      await receiver.stop();
    }
  },
};

interface DeliveryDelayComparison {
  what: string;
  product: ProductUnderLoad;
  shop: BenchLocation;
  bare: BaselineServer;
  receiver: BaselineServer;
  tell(detail: string): void;
}

async function compareDeliveryDelay(
  lab: BenchEnvironment,
  { what, product, shop, bare, receiver, tell }: DeliveryDelayComparison,
): Promise<BenchmarkFigure[]> {
  const seconds = lab.isQuick ? 3 : 10;
  const repetitions = lab.isQuick ? 2 : 5;
  const measure = async (origin: string, path: string) => {
    const target = { origin, headers: shop.headers, path };
    const { responseTimesByOrderId, responseTimeMs } = await lab.loadGenerator.run("pay", {
      ...target,
      template: paidOrderJson,
      perSecond: ordersPerSecond,
      seconds,
    });
    const delays = computeDeliveryDelaysMs(
      responseTimesByOrderId,
      await waitForWebhookArrivals(receiver, responseTimesByOrderId.length),
    );
    // What came before its reply is less than can be told, and no ratio's divisor.
    const clampedPercentile = (part: number) => Math.max(percentile(delays, part), 0.01);
    return { p50: clampedPercentile(0.5), p99: clampedPercentile(0.99), answered: responseTimeMs.p99 };
  };
  const ours = () => measure(product.url, liveOrdersPath);
  const limit = () => measure(bare.url, "/");
  tell(`${what}: warming up`);
  await ours();
  await limit();
  const runs: { ours: Awaited<ReturnType<typeof measure>>; limit: Awaited<ReturnType<typeof measure>> }[] = [];
  for (let turn = 1; turn <= repetitions; turn += 1) {
    tell(`${what}: ${turn} of ${repetitions}`);
    runs.push({ ours: await ours(), limit: await limit() });
  }
  const figure = (name: string, of: "p50" | "p99" | "answered") => {
    const pairs: MeasurementPair[] = runs.map((run) => ({ ours: run.ours[of], limit: run.limit[of] }));
    return summarizeMeasurements(pairs, { what: `${what}: ${name}`, unit: "ms" });
  };
  return [
    figure("from the reply to the receiver, p50", "p50"),
    figure("from the reply to the receiver, p99", "p99"),
    figure("from the order to its reply, p99", "answered"),
  ];
}
