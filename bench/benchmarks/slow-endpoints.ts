import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { type BaselineServer, startBenchWebhookReceiver } from "../baseline-server.ts";
import type { BenchEnvironment } from "../bench-environment.ts";
import { type BenchLocation, createBenchLocation } from "../bench-location.ts";
import type { Benchmark } from "../benchmark.ts";
import { type MeasurementPair, summarizeMeasurements } from "../benchmark-figure.ts";
import { percentile } from "../measurement-spread.ts";
import type { ProductUnderLoad } from "../product-under-load.ts";
import {
  computeDeliveryDelaysMs,
  liveOrdersPath,
  paidOrderJson,
  subscribeToPaidOrders,
  waitForWebhookArrivals,
} from "../webhook-subscription.ts";

const ordersPerSecond = 20;
const healthyEndpointCount = 5;

export const slowEndpointsBenchmark: Benchmark = {
  id: "j",
  title: `From the reply to an order that is paid to ${healthyEndpointCount} healthy endpoints, beside 5 dead and 5 slow ones`,
  limit: "the same endpoints of the same product, without the dead and the slow ones beside them",
  async run(lab, tell) {
    const { product } = await lab.sharedProduct("split");
    const receivers = await Promise.all(["healthy", "ill"].map((name) => startBenchWebhookReceiver(lab, name)));
    const [well, ill] = receivers as [BaselineServer, BaselineServer];
    try {
      const [alone, together] = [await createBenchLocation(product), await createBenchLocation(product)];
      const good = Array.from({ length: healthyEndpointCount }, (_, index) => `${well.url}/healthy/${index}`);
      const slow = Array.from({ length: 5 }, (_, index) => `${ill.url}/slow/${index}`);
      const silent = Array.from({ length: 3 }, (_, index) => `${ill.url}/silent/${index}`);
      const refusing = (await findUnusedPorts(2)).map((port) => `http://127.0.0.1:${port}/refusing`);
      const subscriptions = [
        await subscribeToPaidOrders(product, alone, good),
        await subscribeToPaidOrders(product, together, [...good, ...slow, ...silent, ...refusing]),
      ];
      const figures = await compareSlowEndpoints(lab, { product, alone, together, receiver: well, tell });
      for (const subscription of subscriptions) await subscription.remove();
      const notes = [
        "Slow: answers after 3 s. Dead: three take messages and never answer, two refuse connections.",
        `${ordersPerSecond} orders a second, each to all endpoints: ${ordersPerSecond * healthyEndpointCount} deliveries a second without, ${ordersPerSecond * (healthyEndpointCount + 10)} with. All without come first, since what the slow ones are owed goes on.`,
      ];
      return { figures, notes };
    } finally {
      for (const receiver of receivers) await receiver.stop();
    }
  },
};

/** Ports where nobody listens. */
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
  product: ProductUnderLoad;
  alone: BenchLocation;
  together: BenchLocation;
  receiver: BaselineServer;
  tell(detail: string): void;
}

async function compareSlowEndpoints(
  lab: BenchEnvironment,
  { product, alone, together, receiver, tell }: SlowEndpointsComparison,
) {
  const seconds = lab.isQuick ? 3 : 10;
  const repetitions = lab.isQuick ? 2 : 5;
  const measure = async ({ headers }: BenchLocation) => {
    const target = { origin: product.url, headers, path: liveOrdersPath };
    const { responseTimesByOrderId } = await lab.loadGenerator.run("pay", {
      ...target,
      template: paidOrderJson,
      perSecond: ordersPerSecond,
      seconds,
    });
    const delays = computeDeliveryDelaysMs(
      responseTimesByOrderId,
      await waitForWebhookArrivals(receiver, responseTimesByOrderId.length * healthyEndpointCount),
    );
    return { p50: Math.max(0.01, percentile(delays, 0.5)), p99: Math.max(0.01, percentile(delays, 0.99)) };
  };
  const repeat = async (what: string, shop: BenchLocation) => {
    tell(`${what}: warming up`);
    await measure(shop);
    const runs = [];
    for (let turn = 1; turn <= repetitions; turn += 1) {
      tell(`${what}: ${turn} of ${repetitions}`);
      runs.push(await measure(shop));
    }
    return runs;
  };
  const without = await repeat("without", alone);
  const beside = await repeat("with", together);
  const figure = (what: "p50" | "p99") => {
    const pairs: MeasurementPair[] = beside.map((run, index) => ({
      ours: run[what],
      limit: without[index]?.[what] ?? run[what],
    }));
    return summarizeMeasurements(pairs, { what: `from the reply to a healthy receiver, ${what}`, unit: "ms" });
  };
  return [figure("p50"), figure("p99")];
}
