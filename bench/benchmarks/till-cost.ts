import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import type { BenchEnvironment } from "../bench-environment.ts";
import type { BenchLocation } from "../bench-location.ts";
import type { BenchPragmaDeployment } from "../bench-pragma-deployment.ts";
import type { BenchmarkDefinition } from "../benchmark.ts";
import {
  type BenchmarkMeasurementPair,
  computeBenchmarkComparison,
  type ProductToBaselineComparison,
} from "../benchmark-figure.ts";
import { computeMedianMinMax, computePercentile } from "../measurement-spread.ts";
import { readProcessTreeCpuSeconds } from "../process-usage.ts";
import { runBenchSubprocessForJson } from "../run-bench-program.ts";
import { benchBusyShiftTillJson, getBenchSampleTillPath } from "../sample-tills.ts";

const shiftTillFile = getBenchSampleTillPath("shift-v2.till");

/** CPU time per till, in milliseconds. */
interface CpuMsPerTill {
  node: number;
  postgres: number;
}

export const tillCostBenchmark: BenchmarkDefinition = {
  id: "d",
  title: "Tills of 1.4 MB with 150 orders, from the request at the gateway to the stored report",
  baseline: "JSON.parse and SHA-256 of the same body, once each, in a loop",
  async run(environment, reportProgress) {
    const figures: ProductToBaselineComparison[] = [];
    const notes: string[] = [];
    let stages: Record<string, number> = {};
    let nodeMs = 0;
    for (const shape of ["all in one", "split"] as const) {
      const { product, benchLocation } = await environment.getSharedPragma(shape);
      const { pairs, postgres, roles } = await compareTillCost(environment, {
        product,
        benchLocation,
        reportProgress: (detail) => reportProgress(`${shape}: ${detail}`),
      });
      figures.push(
        computeBenchmarkComparison(pairs, { label: `${shape}: CPU of all Node.js processes`, unit: "tills/CPU s" }),
      );
      notes.push(`${shape}, CPU ms per till: ${roles}, and PostgreSQL ${postgres.toFixed(1)}`);
      nodeMs = 1000 / computeMedianMinMax(pairs.map(({ ours }) => ours)).median;
      if (shape === "split") {
        reportProgress("measuring stages");
        const env = {
          DATABASE_URL: environment.urls.DATABASE_URL,
          SCHEMA: buildServiceSchemaName(product.namespace, "reporting"),
        };
        stages = await runBenchSubprocessForJson("till-stages", [shiftTillFile, environment.isQuick ? 10 : 40], env);
      }
    }
    notes.push("CPU ms per till in the Node.js processes (split), each stage measured separately:");
    const lines = Object.entries(stages);
    const rest = nodeMs - lines.reduce((sum, [, milliseconds]) => sum + milliseconds, 0);
    const other = "everything else: HTTP, the gateway's hop, threads, queries, events, logs, garbage collection";
    for (const [stage, milliseconds] of [...lines, [other, rest] as const]) {
      notes.push(`${milliseconds.toFixed(1).padStart(6)}  ${stage}`);
    }
    return { figures, notes };
  },
};

interface TillCostComparison {
  product: BenchPragmaDeployment;
  benchLocation: BenchLocation;
  reportProgress(detail: string): void;
}

async function compareTillCost(
  environment: BenchEnvironment,
  { product, benchLocation, reportProgress }: TillCostComparison,
) {
  const tills = environment.isQuick ? 8 : 30;
  const repetitions = environment.isQuick ? 2 : 5;
  const pairs: BenchmarkMeasurementPair[] = [];
  const costs: CpuMsPerTill[] = [];

  const pushTills = async (): Promise<CpuMsPerTill> => {
    const before = { node: product.cpuSeconds(), postgres: readProcessTreeCpuSeconds(environment.postgres.pid) };
    await environment.loadGenerator.run("push", {
      ...{ origin: product.url, headers: benchLocation.headers, template: benchBusyShiftTillJson },
      // The interval is long, so that the requests for reports add little to the measured CPU time.
      ...{ tills, pushers: 2, pollIntervalMs: 50 },
    });
    const each = (seconds: number) => (seconds * 1000) / tills;
    return {
      node: each(product.cpuSeconds() - before.node),
      postgres: each(readProcessTreeCpuSeconds(environment.postgres.pid) - before.postgres),
    };
  };

  reportProgress("warming up");
  for (let repetition = 0; repetition < (environment.isQuick ? 1 : 3); repetition += 1) await pushTills();
  const before = product.processes.map((each) => each.cpuSeconds());
  for (let repetition = 1; repetition <= repetitions; repetition += 1) {
    reportProgress(`${repetition} of ${repetitions}`);
    const cost = await pushTills();
    costs.push(cost);
    const { perCpuSecond } = await runBenchSubprocessForJson<{ perCpuSecond: number }>("parse-and-hash", [
      shiftTillFile,
      environment.isQuick ? 1 : 3,
    ]);
    pairs.push({ ours: 1000 / cost.node, baseline: perCpuSecond });
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
    postgres: computePercentile(
      costs.map(({ postgres }) => postgres),
      0.5,
    ),
  };
}
