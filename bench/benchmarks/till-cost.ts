import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import type { BenchEnvironment } from "../bench-environment.ts";
import type { BenchLocation } from "../bench-location.ts";
import type { Benchmark } from "../benchmark.ts";
import { type BenchmarkFigure, type MeasurementPair, summarizeMeasurements } from "../benchmark-figure.ts";
import { computeMeasurementSpread, percentile } from "../measurement-spread.ts";
import { readProcessTreeCpuSeconds } from "../process-usage.ts";
import type { ProductUnderLoad } from "../product-under-load.ts";
import { runMeasuredProgram } from "../run-measured-program.ts";
import { busyShiftTillJson, sampleTillPath } from "../sample-tills.ts";

const shiftTillFile = sampleTillPath("shift-v2.till");

/** CPU milliseconds that a till cost. */
interface CpuMsPerTill {
  node: number;
  postgres: number;
}

export const tillCostBenchmark: Benchmark = {
  id: "d",
  title: "Tills of 1.4 MB and 150 orders, from the request at the gateway to the stored report",
  limit: "JSON.parse and SHA-256 of the same body, once each, in a loop",
  async run(lab, tell) {
    const figures: BenchmarkFigure[] = [];
    const notes: string[] = [];
    let stages: Record<string, number> = {};
    let ofNode = 0;
    for (const shape of ["all in one", "split"] as const) {
      const { product, shop } = await lab.sharedProduct(shape);
      const { pairs, postgres, roles } = await compareTillCost(lab, {
        product,
        shop,
        tell: (detail) => tell(`${shape}: ${detail}`),
      });
      figures.push(summarizeMeasurements(pairs, { what: `${shape}: CPU of all node processes`, unit: "tills/CPU s" }));
      notes.push(`${shape}, CPU ms a till: ${roles}, and PostgreSQL ${postgres.toFixed(1)}`);
      ofNode = 1000 / computeMeasurementSpread(pairs.map(({ ours }) => ours)).median;
      if (shape === "split") {
        tell("stage by stage");
        const env = {
          DATABASE_URL: lab.urls.DATABASE_URL,
          SCHEMA: buildServiceSchemaName(product.namespace, "reporting"),
        };
        stages = await runMeasuredProgram("stages", [shiftTillFile, lab.isQuick ? 10 : 40], env);
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

interface TillCostComparison {
  product: ProductUnderLoad;
  shop: BenchLocation;
  tell(detail: string): void;
}

async function compareTillCost(lab: BenchEnvironment, { product, shop, tell }: TillCostComparison) {
  const tills = lab.isQuick ? 8 : 30;
  const repetitions = lab.isQuick ? 2 : 5;
  const pairs: MeasurementPair[] = [];
  const costs: CpuMsPerTill[] = [];

  const pushSome = async (): Promise<CpuMsPerTill> => {
    const before = { node: product.cpuSeconds(), postgres: readProcessTreeCpuSeconds(lab.postgres.pid) };
    await lab.loadGenerator.run("push", {
      ...{ origin: product.url, headers: shop.headers, template: busyShiftTillJson },
      // A report is asked for seldom: asking is not what is measured.
      ...{ tills, pushers: 2, askEvery: 50 },
    });
    const each = (seconds: number) => (seconds * 1000) / tills;
    return {
      node: each(product.cpuSeconds() - before.node),
      postgres: each(readProcessTreeCpuSeconds(lab.postgres.pid) - before.postgres),
    };
  };

  tell("warming up");
  for (let turn = 0; turn < (lab.isQuick ? 1 : 3); turn += 1) await pushSome();
  const before = product.processes.map((each) => each.cpuSeconds());
  for (let turn = 1; turn <= repetitions; turn += 1) {
    tell(`${turn} of ${repetitions}`);
    const cost = await pushSome();
    costs.push(cost);
    const { perCpuSecond } = await runMeasuredProgram<{ perCpuSecond: number }>("parse-and-hash", [
      shiftTillFile,
      lab.isQuick ? 1 : 3,
    ]);
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
