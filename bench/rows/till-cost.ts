import { schemaOf } from "@pragma/runtime/start-service";
import { type Figure, figureOf, type Pair } from "../figure.ts";
import type { Lab } from "../lab.ts";
import { cpuSecondsOfTree } from "../process-usage.ts";
import type { Product } from "../product.ts";
import type { Row } from "../row.ts";
import { runMeasured } from "../run-measured.ts";
import type { Shop } from "../shop.ts";
import { percentile, spreadOf } from "../spread.ts";
import { sampleFile, shiftTill } from "../tills.ts";

const file = sampleFile("shift-v2.till");

/** CPU milliseconds that a till cost. */
interface Cost {
  node: number;
  postgres: number;
}

export const tillCost: Row = {
  id: "d",
  title: "Tills of 1.4 MB and 150 orders, from the request at the gateway to the stored report",
  limit: "JSON.parse and SHA-256 of the same body, once each, in a loop",
  async run(lab, tell) {
    const figures: Figure[] = [];
    const notes: string[] = [];
    let stages: Record<string, number> = {};
    let ofNode = 0;
    for (const shape of ["all in one", "split"] as const) {
      const { product, shop } = await lab.product(shape);
      const { pairs, postgres, roles } = await compare(lab, {
        product,
        shop,
        tell: (detail) => tell(`${shape}: ${detail}`),
      });
      figures.push(figureOf(pairs, { what: `${shape}: CPU of all node processes`, unit: "tills/CPU s" }));
      notes.push(`${shape}, CPU ms a till: ${roles}, and PostgreSQL ${postgres.toFixed(1)}`);
      ofNode = 1000 / spreadOf(pairs.map(({ ours }) => ours)).median;
      if (shape === "split") {
        tell("stage by stage");
        const env = { DATABASE_URL: lab.urls.DATABASE_URL, SCHEMA: schemaOf(product.namespace, "reporting") };
        stages = await runMeasured("stages", [file, lab.isQuick ? 10 : 40], env);
      }
    }
    notes.push("Where it goes (split), CPU ms a till in node processes, each stage measured by itself:");
    const lines = Object.entries(stages);
    const rest = ofNode - lines.reduce((sum, [, milliseconds]) => sum + milliseconds, 0);
    const other = "everything else: HTTP, the gateway's hop, threads, queries, events, logs, collecting garbage";
    for (const [stage, milliseconds] of [...lines, [other, rest] as const]) {
      notes.push(`${milliseconds.toFixed(1).padStart(6)}  ${stage}`);
    }
    return { figures, notes };
  },
};

interface Setting {
  product: Product;
  shop: Shop;
  tell(detail: string): void;
}

async function compare(lab: Lab, { product, shop, tell }: Setting) {
  const tills = lab.isQuick ? 8 : 30;
  const repetitions = lab.isQuick ? 2 : 5;
  const pairs: Pair[] = [];
  const costs: Cost[] = [];

  const pushSome = async (): Promise<Cost> => {
    const before = { node: product.cpuSeconds(), postgres: cpuSecondsOfTree(lab.postgres.pid) };
    await lab.load.run("push", {
      ...{ origin: product.url, headers: shop.headers, template: shiftTill },
      // A report is asked for seldom: asking is not what is measured.
      ...{ tills, pushers: 2, askEvery: 50 },
    });
    const each = (seconds: number) => (seconds * 1000) / tills;
    return {
      node: each(product.cpuSeconds() - before.node),
      postgres: each(cpuSecondsOfTree(lab.postgres.pid) - before.postgres),
    };
  };

  tell("warming up");
  for (let turn = 0; turn < (lab.isQuick ? 1 : 3); turn += 1) await pushSome();
  const before = product.processes.map((each) => each.cpuSeconds());
  for (let turn = 1; turn <= repetitions; turn += 1) {
    tell(`${turn} of ${repetitions}`);
    const cost = await pushSome();
    costs.push(cost);
    const { perCpuSecond } = await runMeasured<{ perCpuSecond: number }>("parse-and-hash", [file, lab.isQuick ? 1 : 3]);
    pairs.push({ ours: 1000 / cost.node, limit: perCpuSecond });
  }
  const roles = product.processes
    .map(({ role, cpuSeconds }, index) => {
      const each = ((cpuSeconds() - (before[index] ?? 0)) * 1000) / (tills * repetitions);
      return `${role} ${each.toFixed(1)}`;
    })
    .join(", ");
  return {
    pairs,
    roles,
    postgres: percentile(
      costs.map(({ postgres }) => postgres),
      0.5,
    ),
  };
}
