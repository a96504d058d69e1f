import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type BareServer, startReceiver } from "../bare-server.ts";
import { figureOf, type Pair } from "../figure.ts";
import type { Lab } from "../lab.ts";
import { cpuSecondsOfTree } from "../process-usage.ts";
import type { Product } from "../product.ts";
import type { Row } from "../row.ts";
import { runMeasured } from "../run-measured.ts";
import { openShop, type Shop } from "../shop.ts";
import { spreadOf } from "../spread.ts";
import { arrivalsAt, ordersPath, paidOrder, subscribe } from "../webhooks.ts";

/** Messages that the bare loop has on their way at once. */
const atATime = 50;
/** After the last message has come: what came of it is written down. */
const settling = 1_000;

interface Crowd {
  what: string;
  endpoints: number;
  /** Orders. */
  perSecond: number;
  /** Whether all that is to be posted waits first, and is then posted as fast as it goes. */
  isBacklog: boolean;
}

const crowds: Crowd[] = [
  { what: "what waits for 10 endpoints, as fast as it goes", endpoints: 10, perSecond: 50, isBacklog: true },
  { what: "each order as it comes, to 10 endpoints", endpoints: 10, perSecond: 100, isBacklog: false },
  { what: "each order as it comes, to one endpoint", endpoints: 1, perSecond: 200, isBacklog: false },
];

export const deliveryCost: Row = {
  id: "h",
  title: "Deliveries by CPU second of the webhooks process, from the event to the written outcome",
  limit: "undici in a loop that signs and posts the same body to the same receiver",
  async run(lab, tell) {
    const { product } = await lab.product("split");
    const receiver = await startReceiver(lab, "cost");
    try {
      const figures = [];
      const notes = [
        "CPU of the node process only. As they come: with reading the event, and writing down what is to be sent.",
      ];
      for (const crowd of crowds) {
        const { what, isBacklog } = crowd;
        const shop = await openShop(product);
        const { pairs, postgres } = await compare(lab, { ...crowd, product, shop, receiver, tell });
        figures.push(figureOf(pairs, { what, unit: "/CPU s", ...(isBacklog && { goal: { atLeast: 0.4 } }) }));
        notes.push(`PostgreSQL's CPU µs for each delivery of ${what}: ${Math.round(postgres)}`);
      }
      return { figures, notes };
    } finally {
      await receiver.stop();
    }
  },
};

interface Setting extends Crowd {
  product: Product;
  shop: Shop;
  receiver: BareServer;
  tell(detail: string): void;
}

async function compare(lab: Lab, setting: Setting) {
  const { product, shop, receiver, what, endpoints, perSecond, isBacklog } = setting;
  const tell = (step: string) => setting.tell(`${what}: ${step}`);
  const seconds = lab.isQuick ? 3 : 10;
  const repetitions = lab.isQuick ? 2 : 5;
  const deliveries = perSecond * seconds * endpoints;
  const webhooks = product.process("webhooks");
  const urls = Array.from({ length: endpoints }, (_, index) => `${receiver.url}/healthy/${index}`);
  const subscribed = await subscribe(product, shop, urls);
  const cpu = () => ({ node: webhooks.cpuSeconds(), postgres: cpuSecondsOfTree(lab.postgres.pid) });
  const deliver = async () => {
    if (isBacklog) await subscribed.pause();
    let before = cpu();
    const { url: origin } = product;
    const payments = { origin, headers: shop.headers, path: ordersPath, template: paidOrder, perSecond, seconds };
    await lab.load.run("pay", payments);
    if (isBacklog) {
      await sleep(settling);
      before = cpu();
      await subscribed.resume();
    }
    await arrivalsAt(receiver, deliveries);
    await sleep(settling);
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
  const pairs: Pair[] = [];
  const postgres: number[] = [];
  for (let turn = 1; turn <= repetitions; turn += 1) {
    tell(`${turn} of ${repetitions}`);
    const ours = await deliver();
    const posts = [`${receiver.url}/bare`, file, lab.isQuick ? 4_000 : 20_000, atATime];
    const { perCpuSecond: limit } = await runMeasured<{ perCpuSecond: number }>("bare-posts", posts);
    pairs.push({ ours: ours.perCpuSecond, limit });
    postgres.push(ours.postgres);
  }
  await subscribed.end();
  return { pairs, postgres: spreadOf(postgres).median };
}
