import { setTimeout as sleep } from "node:timers/promises";
import { startBareServer } from "../bare-server.ts";
import { figureOf, type Pair } from "../figure.ts";
import type { Lab } from "../lab.ts";
import { allInOne, type Product, type Role, split } from "../product.ts";
import { putReport } from "../put-report.ts";
import type { Row } from "../row.ts";
import { openShop, type Shop } from "../shop.ts";
import { shiftTill } from "../tills.ts";

/** Milliseconds after which a process that was started is at rest. */
const restAfter = 2_000;

export const memory: Row = {
  id: "f",
  title: "Resident memory of each process: at rest after its start, and the most under load",
  limit: "plain node:http with postgres.js, at rest and under the same load of pages",
  async run(lab, tell) {
    const pairs = new Map<string, Pair[]>();
    const repetitions = lab.isQuick ? 1 : 3;
    for (let turn = 1; turn <= repetitions; turn += 1) {
      for (const shape of shapes) {
        const product = await lab.startProduct(`bench_memory_${shape.roles.length}_${turn}`, shape.roles);
        try {
          const step = (detail: string) => tell(`${shape.name}, ${turn} of ${repetitions}: ${detail}`);
          for (const { what, ...pair } of await measure(lab, product, { name: shape.name, tell: step })) {
            pairs.set(what, [...(pairs.get(what) ?? []), pair]);
          }
        } finally {
          await product.stop();
        }
      }
    }
    const figures = [...pairs].map(([what, of]) => figureOf(of, { what, unit: "MB" }));
    return { figures, notes: [`The load: ${loadText(sizesOf(lab))}.`] };
  },
};

const shapes: { name: string; roles: Role[] }[] = [
  { name: "all in one", roles: allInOne },
  { name: "split", roles: split },
];

interface Sizes {
  tills: number;
  seconds: number;
}

const sizesOf = ({ isQuick }: Lab): Sizes => (isQuick ? { tills: 8, seconds: 2 } : { tills: 40, seconds: 5 });

function loadText({ tills, seconds }: Sizes): string {
  return `${tills} tills of 1.4 MB from 4 pushers, then ${seconds} s each of reports (58 KB) and of pages of 100 orders, from 16 connections`;
}

async function measure(
  lab: Lab,
  product: Product,
  { name, tell }: { name: string; tell(detail: string): void },
): Promise<(Pair & { what: string })[]> {
  tell("at rest");
  await sleep(restAfter);
  const atRest = product.processes.map(({ memory }) => memory().now);
  const shop = await openShop(product);
  const path = await putReport(product, shop);
  const bare = await startBareServer(lab, product, shop.locationId);
  try {
    await sleep(restAfter);
    const bareAtRest = bare.memory().now;
    tell("under load");
    await useProduct(lab, { product, shop, path });
    await askPages(lab, bare.url, {});
    const barePeak = bare.memory().peak;
    return product.processes.flatMap(({ role, memory }, index) => {
      const who = role === "all" ? name : `${name}, ${role}`;
      return [
        { what: `${who}: at rest`, ours: atRest[index] ?? 0, limit: bareAtRest },
        { what: `${who}: at its peak`, ours: memory().peak, limit: barePeak },
      ];
    });
  } finally {
    await bare.stop();
  }
}

async function useProduct(lab: Lab, { product, shop, path }: { product: Product; shop: Shop; path: string }) {
  const { tills, seconds } = sizesOf(lab);
  const target = { origin: product.url, headers: shop.headers };
  await lab.load.run("push", { ...target, template: shiftTill, tills, pushers: 4, askEvery: 20 });
  await lab.load.run("saturate", { ...target, path, seconds, connections: 16 });
  await askPages(lab, target.origin, target.headers);
}

async function askPages(lab: Lab, origin: string, headers: Record<string, string>): Promise<void> {
  const { seconds } = sizesOf(lab);
  await lab.load.run("saturate", { origin, headers, path: "/v1/orders/?size=100", seconds, connections: 16 });
}
