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

const crowds = [
  { endpoints: 1, perSecond: 200 },
  { endpoints: 10, perSecond: 100 },
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
      const notes = ["CPU of the node process only. With 10 endpoints each event is read and written once for all."];
      for (const { endpoints, perSecond } of crowds) {
        const what = `each order to ${endpoints === 1 ? "one endpoint" : `${endpoints} endpoints`}`;
        const shop = await openShop(product);
        const measured = {
          product,
          shop,
          receiver,
          endpoints,
          perSecond,
          tell: (step: string) => tell(`${what}: ${step}`),
        };
        const { pairs, postgres } = await compare(lab, measured);
        figures.push(figureOf(pairs, { what, unit: "/CPU s", goal: { atLeast: 0.4 } }));
        notes.push(
          `${what}: CPU µs of PostgreSQL for each delivery, with all that the order took: ${Math.round(postgres)}`,
        );
      }
      return { figures, notes };
    } finally {
      await receiver.stop();
    }
  },
};

interface Setting {
  product: Product;
  shop: Shop;
  receiver: BareServer;
  endpoints: number;
  perSecond: number;
  tell(detail: string): void;
}

async function compare(lab: Lab, { product, shop, receiver, endpoints, perSecond, tell }: Setting) {
  const seconds = lab.isQuick ? 3 : 10;
  const repetitions = lab.isQuick ? 2 : 5;
  const deliveries = perSecond * seconds * endpoints;
  const webhooks = product.process("webhooks");
  const urls = Array.from({ length: endpoints }, (_, index) => `${receiver.url}/healthy/${index}`);
  const subscription = await subscribe(product, shop, urls);
  const deliver = async () => {
    const before = { node: webhooks.cpuSeconds(), postgres: cpuSecondsOfTree(lab.postgres.pid) };
    const { url: origin } = product;
    const payments = { origin, headers: shop.headers, path: ordersPath, template: paidOrder, perSecond, seconds };
    await lab.load.run("pay", payments);
    await arrivalsAt(receiver, deliveries);
    await sleep(settling);
    return {
      perCpuSecond: deliveries / (webhooks.cpuSeconds() - before.node),
      postgres: ((cpuSecondsOfTree(lab.postgres.pid) - before.postgres) * 1e6) / deliveries,
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
  await subscription.end();
  return { pairs, postgres: spreadOf(postgres).median };
}
