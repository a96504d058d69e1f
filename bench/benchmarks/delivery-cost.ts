import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type BenchServerProcess, startBenchWebhookReceiver } from "../baseline-server.ts";
import type { BenchEnvironment } from "../bench-environment.ts";
import { type BenchLocation, createBenchLocation } from "../bench-location.ts";
import type { BenchPragmaDeployment } from "../bench-pragma-deployment.ts";
import type { BenchmarkDefinition } from "../benchmark.ts";
import { type BenchmarkMeasurementPair, computeBenchmarkComparison } from "../benchmark-figure.ts";
import { computeMedianMinMax } from "../measurement-spread.ts";
import { readProcessTreeCpuSeconds } from "../process-usage.ts";
import { runBenchSubprocessForJson } from "../run-bench-program.ts";
import {
  benchPaidLiveOrderJson,
  createBenchPaidOrderWebhooks,
  liveOrdersPath,
  waitForBenchWebhookArrivals,
} from "../webhook-subscription.ts";

/** Number of concurrent requests of the baseline loop. */
const postConcurrency = 50;
/** Milliseconds to wait before a CPU time is read, so that the product has stored all messages and outcomes. */
const settleMs = 1_000;

interface DeliveryScenario {
  label: string;
  endpoints: number;
  ordersPerSecond: number;
  /** Whether messages first wait while the webhooks are paused, and are then delivered at the maximum rate. */
  isBacklog: boolean;
}

const deliveryScenarios: DeliveryScenario[] = [
  { label: "backlog of 10 endpoints, at the maximum rate", endpoints: 10, ordersPerSecond: 50, isBacklog: true },
  { label: "orders as they arrive, to 10 endpoints", endpoints: 10, ordersPerSecond: 100, isBacklog: false },
  { label: "orders as they arrive, to one endpoint", endpoints: 1, ordersPerSecond: 200, isBacklog: false },
];

export const webhookDeliveryCostBenchmark: BenchmarkDefinition = {
  id: "h",
  title: "Deliveries per CPU second of the webhooks process, from the event to the stored outcome",
  baseline: "undici in a loop that signs and posts the same body to the same receiver",
  async run(environment, reportProgress) {
    const { product } = await environment.getSharedPragma("split");
    const receiver = await startBenchWebhookReceiver(environment, "cost");
    try {
      const figures = [];
      const notes = [
        "CPU of the Node.js process only. As they arrive: includes reading the event and storing the delivery.",
      ];
      for (const scenario of deliveryScenarios) {
        const { label, isBacklog } = scenario;
        const benchLocation = await createBenchLocation(product);
        const { pairs, postgres } = await compareDeliveryCost(environment, {
          ...scenario,
          product,
          benchLocation,
          receiver,
          reportProgress,
        });
        figures.push(
          computeBenchmarkComparison(pairs, { label, unit: "/CPU s", ...(isBacklog && { goal: { min: 0.4 } }) }),
        );
        notes.push(`PostgreSQL CPU µs per delivery, ${label}: ${Math.round(postgres)}`);
      }
      return { figures, notes };
    } finally {
      await receiver.stop();
    }
  },
};

interface DeliveryCostComparison extends DeliveryScenario {
  product: BenchPragmaDeployment;
  benchLocation: BenchLocation;
  receiver: BenchServerProcess;
  reportProgress(detail: string): void;
}

async function compareDeliveryCost(environment: BenchEnvironment, comparison: DeliveryCostComparison) {
  const { product, benchLocation, receiver, label, endpoints, ordersPerSecond, isBacklog } = comparison;
  const reportProgress = (step: string) => comparison.reportProgress(`${label}: ${step}`);
  const seconds = environment.isQuick ? 3 : 10;
  const repetitions = environment.isQuick ? 2 : 5;
  const deliveries = ordersPerSecond * seconds * endpoints;
  const webhooks = product.process("webhooks");
  const urls = Array.from({ length: endpoints }, (_, index) => `${receiver.url}/healthy/${index}`);
  const subscription = await createBenchPaidOrderWebhooks(product, benchLocation, urls);
  const readCpuSeconds = () => ({
    node: webhooks.cpuSeconds(),
    postgres: readProcessTreeCpuSeconds(environment.postgres.pid),
  });
  const deliver = async () => {
    if (isBacklog) await subscription.pause();
    let before = readCpuSeconds();
    const { url: origin } = product;
    const payments = {
      origin,
      headers: benchLocation.headers,
      path: liveOrdersPath,
      template: benchPaidLiveOrderJson,
      perSecond: ordersPerSecond,
      seconds,
    };
    await environment.loadGenerator.run("pay", payments);
    if (isBacklog) {
      await sleep(settleMs);
      before = readCpuSeconds();
      await subscription.resume();
    }
    await waitForBenchWebhookArrivals(receiver, deliveries);
    await sleep(settleMs);
    const after = readCpuSeconds();
    return {
      perCpuSecond: deliveries / (after.node - before.node),
      postgres: ((after.postgres - before.postgres) * 1e6) / deliveries,
    };
  };

  reportProgress("warming up");
  await deliver();
  const file = join(environment.folder, "message.json");
  writeFileSync(file, await (await fetch(`${receiver.url}/body`)).text());
  const pairs: BenchmarkMeasurementPair[] = [];
  const postgres: number[] = [];
  for (let repetition = 1; repetition <= repetitions; repetition += 1) {
    reportProgress(`${repetition} of ${repetitions}`);
    const ours = await deliver();
    const postLoopArguments = [`${receiver.url}/baseline`, file, environment.isQuick ? 4_000 : 20_000, postConcurrency];
    const { perCpuSecond: baseline } = await runBenchSubprocessForJson<{ perCpuSecond: number }>(
      "post-loop",
      postLoopArguments,
    );
    pairs.push({ ours: ours.perCpuSecond, baseline });
    postgres.push(ours.postgres);
  }
  await subscription.remove();
  return { pairs, postgres: computeMedianMinMax(postgres).median };
}
