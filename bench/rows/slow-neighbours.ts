import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { type BareServer, startReceiver } from "../bare-server.ts";
import { figureOf, type Pair } from "../figure.ts";
import type { Lab } from "../lab.ts";
import type { Product } from "../product.ts";
import type { Row } from "../row.ts";
import { openShop, type Shop } from "../shop.ts";
import { percentile } from "../spread.ts";
import { arrivalsAt, delaysOf, ordersPath, paidOrder, subscribe } from "../webhooks.ts";

const perSecond = 20;
const healthy = 5;

export const slowNeighbours: Row = {
  id: "j",
  title: `From the reply to an order that is paid to ${healthy} healthy endpoints, beside 5 dead and 5 slow ones`,
  limit: "the same endpoints of the same product, without the dead and the slow ones beside them",
  async run(lab, tell) {
    const { product } = await lab.product("split");
    const receivers = await Promise.all(["healthy", "ill"].map((name) => startReceiver(lab, name)));
    const [well, ill] = receivers as [BareServer, BareServer];
    try {
      const [alone, together] = [await openShop(product), await openShop(product)];
      const good = Array.from({ length: healthy }, (_, index) => `${well.url}/healthy/${index}`);
      const slow = Array.from({ length: 5 }, (_, index) => `${ill.url}/slow/${index}`);
      const silent = Array.from({ length: 3 }, (_, index) => `${ill.url}/silent/${index}`);
      const refusing = (await unusedPorts(2)).map((port) => `http://127.0.0.1:${port}/refusing`);
      const subscriptions = [
        await subscribe(product, alone, good),
        await subscribe(product, together, [...good, ...slow, ...silent, ...refusing]),
      ];
      const figures = await compare(lab, { product, alone, together, receiver: well, tell });
      for (const subscription of subscriptions) await subscription.end();
      const notes = [
        "Slow: answers after 3 s. Dead: three take messages and never answer, two refuse connections.",
        `${perSecond} orders a second, each to all endpoints: ${perSecond * healthy} deliveries a second without, ${perSecond * (healthy + 10)} with. All without come first, since what the slow ones are owed goes on.`,
      ];
      return { figures, notes };
    } finally {
      for (const receiver of receivers) await receiver.stop();
    }
  },
};

/** Ports where nobody listens. */
async function unusedPorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    ports.push((server.address() as AddressInfo).port);
    await new Promise((resolve) => server.close(resolve));
  }
  return ports;
}

interface Setting {
  product: Product;
  alone: Shop;
  together: Shop;
  receiver: BareServer;
  tell(detail: string): void;
}

async function compare(lab: Lab, { product, alone, together, receiver, tell }: Setting) {
  const seconds = lab.isQuick ? 3 : 10;
  const repetitions = lab.isQuick ? 2 : 5;
  const measure = async ({ headers }: Shop) => {
    const target = { origin: product.url, headers, path: ordersPath };
    const { replies } = await lab.load.run("pay", { ...target, template: paidOrder, perSecond, seconds });
    const delays = delaysOf(replies, await arrivalsAt(receiver, replies.length * healthy));
    return { p50: Math.max(0.01, percentile(delays, 0.5)), p99: Math.max(0.01, percentile(delays, 0.99)) };
  };
  const repeat = async (what: string, shop: Shop) => {
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
    const pairs: Pair[] = beside.map((run, index) => ({ ours: run[what], limit: without[index]?.[what] ?? run[what] }));
    return figureOf(pairs, { what: `from the reply to a healthy receiver, ${what}`, unit: "ms" });
  };
  return [figure("p50"), figure("p99")];
}
