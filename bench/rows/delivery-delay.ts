import { type BareServer, startBareWebhooks, startReceiver } from "../bare-server.ts";
import { type Figure, figureOf, type Pair } from "../figure.ts";
import type { Lab } from "../lab.ts";
import type { Product } from "../product.ts";
import type { Row } from "../row.ts";
import { openShop, type Shop } from "../shop.ts";
import { percentile } from "../spread.ts";
import { arrivalsAt, delaysOf, ordersPath, paidOrder, subscribe } from "../webhooks.ts";

const perSecond = 200;

export const deliveryDelay: Row = {
  id: "i",
  title: `From the reply to an order that is paid to the request at its receiver, at ${perSecond} orders a second`,
  limit: "plain node:http that keeps the order as one durable row, and posts it with undici",
  async run(lab, tell) {
    const receiver = await startReceiver(lab, "delay");
    const endpoint = `${receiver.url}/healthy`;
    const bare = await startBareWebhooks(lab, endpoint);
    try {
      const figures: Figure[] = [];
      for (const shape of ["split", "all in one"] as const) {
        const { product } = await lab.product(shape);
        const shop = await openShop(product);
        const subscription = await subscribe(product, shop, [endpoint]);
        figures.push(...(await compare(lab, { what: shape, product, shop, bare, receiver, tell })));
        await subscription.end();
      }
      const notes = ["The load's and the receiver's own CPU, on the same machine, is in the delays of both sides."];
      return { figures, notes };
    } finally {
      await bare.stop();
      await receiver.stop();
    }
  },
};

interface Setting {
  what: string;
  product: Product;
  shop: Shop;
  bare: BareServer;
  receiver: BareServer;
  tell(detail: string): void;
}

async function compare(lab: Lab, { what, product, shop, bare, receiver, tell }: Setting): Promise<Figure[]> {
  const seconds = lab.isQuick ? 3 : 10;
  const repetitions = lab.isQuick ? 2 : 5;
  const measure = async (origin: string, path: string) => {
    const target = { origin, headers: shop.headers, path };
    const { replies, answered } = await lab.load.run("pay", { ...target, template: paidOrder, perSecond, seconds });
    const delays = delaysOf(replies, await arrivalsAt(receiver, replies.length));
    // What came before its reply is less than can be told, and no ratio's divisor.
    const atLeast = (part: number) => Math.max(percentile(delays, part), 0.01);
    return { p50: atLeast(0.5), p99: atLeast(0.99), answered: answered.p99 };
  };
  const ours = () => measure(product.url, ordersPath);
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
    const pairs: Pair[] = runs.map((run) => ({ ours: run.ours[of], limit: run.limit[of] }));
    return figureOf(pairs, { what: `${what}: ${name}`, unit: "ms" });
  };
  return [
    figure("from the reply to the receiver, p50", "p50"),
    figure("from the reply to the receiver, p99", "p99"),
    figure("from the order to its reply, p99", "answered"),
  ];
}
