import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type BaselineServer, startBenchWebhookReceiver } from "../baseline-server.ts";
import type { BenchEnvironment } from "../bench-environment.ts";
import { type BenchLocation, createBenchLocation } from "../bench-location.ts";
import type { Benchmark } from "../benchmark.ts";
import { type MeasurementPair, summarizeMeasurements } from "../benchmark-figure.ts";
import { computeMeasurementSpread } from "../measurement-spread.ts";
import { readProcessTreeCpuSeconds } from "../process-usage.ts";
import type { ProductUnderLoad } from "../product-under-load.ts";
import { runMeasuredProgram } from "../run-measured-program.ts";
import {
  liveOrdersPath,
  paidOrderJson,
  subscribeToPaidOrders,
  waitForWebhookArrivals,
} from "../webhook-subscription.ts";

/** Messages that the bare loop has on their way at once. */
const postConcurrency = 50;
/** After the last message has come: what came of it is written down. */
const settleMs = 1_000;

interface DeliveryScenario {
  what: string;
  endpoints: number;
  /** Orders. */
  perSecond: number;
  /** Whether all that is to be posted waits first, and is then posted as fast as it goes. */
  isBacklog: boolean;
}

const deliveryScenarios: DeliveryScenario[] = [
  { what: "what waits for 10 endpoints, as fast as it goes", endpoints: 10, perSecond: 50, isBacklog: true },
  { what: "each order as it comes, to 10 endpoints", endpoints: 10, perSecond: 100, isBacklog: false },
  { what: "each order as it comes, to one endpoint", endpoints: 1, perSecond: 200, isBacklog: false },
];

export const deliveryCostBenchmark: Benchmark = {
  id: "h",
  title: "Deliveries by CPU second of the webhooks process, from the event to the written outcome",
  limit: "undici in a loop that signs and posts the same body to the same receiver",
  async run(lab, tell) {
    const { product } = await lab.sharedProduct("split");
    const receiver = await startBenchWebhookReceiver(lab, "cost");
    try {
      const figures = [];
      const notes = [
        "CPU of the node process only. As they come: with reading the event, and writing down what is to be sent.",
      ];
      for (const crowd of deliveryScenarios) {
        const { what, isBacklog } = crowd;
        const shop = await createBenchLocation(product);
        const { pairs, postgres } = await compareDeliveryCost(lab, { ...crowd, product, shop, receiver, tell });
        figures.push(
          summarizeMeasurements(pairs, { what, unit: "/CPU s", ...(isBacklog && { goal: { atLeast: 0.4 } }) }),
        );
        notes.push(`PostgreSQL's CPU µs for each delivery of ${what}: ${Math.round(postgres)}`);
      }
      return { figures, notes };
    } finally {
      await receiver.stop();
    }
  },
};

interface DeliveryCostComparison extends DeliveryScenario {
  product: ProductUnderLoad;
  shop: BenchLocation;
  receiver: BaselineServer;
  tell(detail: string): void;
}

async function compareDeliveryCost(lab: BenchEnvironment, setting: DeliveryCostComparison) {
  const { product, shop, receiver, what, endpoints, perSecond, isBacklog } = setting;
  const tell = (step: string) => setting.tell(`${what}: ${step}`);
  const seconds = lab.isQuick ? 3 : 10;
  const repetitions = lab.isQuick ? 2 : 5;
  const deliveries = perSecond * seconds * endpoints;
  const webhooks = product.process("webhooks");
  const urls = Array.from({ length: endpoints }, (_, index) => `${receiver.url}/healthy/${index}`);
  const subscribed = await subscribeToPaidOrders(product, shop, urls);
  const cpu = () => ({ node: webhooks.cpuSeconds(), postgres: readProcessTreeCpuSeconds(lab.postgres.pid) });
  const deliver = async () => {
    if (isBacklog) await subscribed.pause();
    let before = cpu();
    const { url: origin } = product;
    const payments = {
      origin,
      headers: shop.headers,
      path: liveOrdersPath,
      template: paidOrderJson,
      perSecond,
      seconds,
    };
    await lab.loadGenerator.run("pay", payments);
    if (isBacklog) {
      await sleep(settleMs);
      before = cpu();
      await subscribed.resume();
    }
    await waitForWebhookArrivals(receiver, deliveries);
    await sleep(settleMs);
    const after = cpu();
    return {
      perCpuSecond: deliveries / (after.node - before.node),
      postgres: ((after.postgres - before.postgres) * 1e6) / deliveries,
    };
  };

  tell("warming up");
  await deliver();
  const file = join(lab.folder, "message.json");
  writeFileSync(file, await (await fetch(`${receiver.url}/body`)).text());
  const pairs: MeasurementPair[] = [];
  const postgres: number[] = [];
  for (let turn = 1; turn <= repetitions; turn += 1) {
    tell(`${turn} of ${repetitions}`);
    const ours = await deliver();
    const posts = [`${receiver.url}/bare`, file, lab.isQuick ? 4_000 : 20_000, postConcurrency];
    const { perCpuSecond: limit } = await runMeasuredProgram<{ perCpuSecond: number }>("bare-posts", posts);
    pairs.push({ ours: ours.perCpuSecond, limit });
    postgres.push(ours.postgres);
  }
  await subscribed.remove();
  return { pairs, postgres: computeMeasurementSpread(postgres).median };
}
