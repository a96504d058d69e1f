import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Figure, figureOf, type Pair } from "../figure.ts";
import type { Lab } from "../lab.ts";
import type { Product } from "../product.ts";
import type { Row } from "../row.ts";
import { runMeasured } from "../run-measured.ts";
import type { Shop } from "../shop.ts";
import { percentile } from "../spread.ts";
import { shiftTill, smallTill } from "../tills.ts";

/** Milliseconds between two questions for a report. */
const askEvery = 2;

const kinds = [
  { name: "40 orders", template: smallTill, tills: 100 },
  { name: "150 orders, 1.4 MB", template: shiftTill, tills: 40 },
];

export const reportDelay: Row = {
  id: "e",
  title: "From the push's reply to the report being readable, the product in separate processes",
  limit: "the calculation and one durable insert of the same texts as one row, in one process, alone",
  async run(lab, tell) {
    const { product, shop } = await lab.product("split");
    const figures: Figure[] = [];
    for (const kind of kinds) {
      for (const pushers of [1, 4]) {
        const what = `${kind.name}, ${pushers === 1 ? "alone" : `${pushers} pushers`}`;
        const measured = { ...kind, pushers, product, shop, tell: (detail: string) => tell(`${what}: ${detail}`) };
        const { p50, p99 } = await compare(lab, measured);
        figures.push(
          figureOf(p50, { what: `${what}: p50`, unit: "ms" }),
          figureOf(p99, { what: `${what}: p99`, unit: "ms" }),
        );
      }
    }
    const notes = [
      `A report is asked for every ${askEvery} ms, through the gateway: so much is in each figure.`,
      "A pusher pushes its next till once the report of the one before is readable.",
    ];
    return { figures, notes };
  },
};

interface Setting {
  template: string;
  tills: number;
  pushers: number;
  product: Product;
  shop: Shop;
  tell(detail: string): void;
}

async function compare(lab: Lab, { template, tills, pushers, product, shop, tell }: Setting) {
  const repetitions = lab.isQuick ? 2 : 5;
  const count = lab.isQuick ? 10 : tills;
  const file = join(lab.folder, `till-${template.length}.json`);
  writeFileSync(file, template);
  const push = (many: number) =>
    lab.load.run("push", { origin: product.url, headers: shop.headers, template, tills: many, pushers, askEvery });
  tell("warming up");
  await push(count);
  const p50: Pair[] = [];
  const p99: Pair[] = [];
  for (let turn = 1; turn <= repetitions; turn += 1) {
    tell(`${turn} of ${repetitions}`);
    const { readable } = await push(count);
    const { took } = await runMeasured<{ took: number[] }>("bare-report", [file, count], {
      DATABASE_URL: lab.urls.DATABASE_URL,
    });
    p50.push({ ours: percentile(readable, 0.5), limit: percentile(took, 0.5) });
    p99.push({ ours: percentile(readable, 0.99), limit: percentile(took, 0.99) });
  }
  return { p50, p99 };
}
