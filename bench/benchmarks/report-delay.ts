import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BenchEnvironment } from "../bench-environment.ts";
import type { BenchLocation } from "../bench-location.ts";
import type { BenchPragmaDeployment } from "../bench-pragma-deployment.ts";
import type { BenchmarkDefinition } from "../benchmark.ts";
import {
  type BenchmarkMeasurementPair,
  computeBenchmarkComparison,
  type ProductToBaselineComparison,
} from "../benchmark-figure.ts";
import { computePercentile } from "../measurement-spread.ts";
import { runBenchSubprocessForJson } from "../run-bench-program.ts";
import { benchBusyShiftTillJson, benchQuietShiftTillJson } from "../sample-tills.ts";

/** Milliseconds to wait between two requests for the same report. */
const reportPollIntervalMs = 2;

const tillScenarios = [
  { name: "40 orders", template: benchQuietShiftTillJson, tills: 100 },
  { name: "150 orders, 1.4 MB", template: benchBusyShiftTillJson, tills: 40 },
];

export const reportDelayBenchmark: BenchmarkDefinition = {
  id: "e",
  title: "From the response to a pushed till to its readable report, with the product in separate processes",
  baseline: "the calculation and one durable insert of the same JSON as one row, in one process without other load",
  async run(environment, reportProgress) {
    const { product, benchLocation } = await environment.getSharedPragma("split");
    const figures: ProductToBaselineComparison[] = [];
    for (const scenario of tillScenarios) {
      for (const pushers of [1, 4]) {
        const label = `${scenario.name}, ${pushers === 1 ? "one pusher" : `${pushers} pushers`}`;
        const comparison = {
          ...scenario,
          pushers,
          product,
          benchLocation,
          reportProgress: (detail: string) => reportProgress(`${label}: ${detail}`),
        };
        const { p50, p99 } = await compareReportDelay(environment, comparison);
        figures.push(
          computeBenchmarkComparison(p50, { label: `${label}: p50`, unit: "ms" }),
          computeBenchmarkComparison(p99, { label: `${label}: p99`, unit: "ms" }),
        );
      }
    }
    const notes = [
      `Reports are polled every ${reportPollIntervalMs} ms through the gateway: each figure includes up to that delay.`,
      "A pusher pushes its next till when the report of its last till is readable.",
    ];
    return { figures, notes };
  },
};

interface ReportDelayComparison {
  template: string;
  tills: number;
  pushers: number;
  product: BenchPragmaDeployment;
  benchLocation: BenchLocation;
  reportProgress(detail: string): void;
}

async function compareReportDelay(
  environment: BenchEnvironment,
  { template, tills, pushers, product, benchLocation, reportProgress }: ReportDelayComparison,
) {
  const repetitions = environment.isQuick ? 2 : 5;
  const count = environment.isQuick ? 10 : tills;
  const file = join(environment.folder, `till-${template.length}.json`);
  writeFileSync(file, template);
  const pushTills = (tillCount: number) =>
    environment.loadGenerator.run("push", {
      origin: product.url,
      headers: benchLocation.headers,
      template,
      tills: tillCount,
      pushers,
      pollIntervalMs: reportPollIntervalMs,
    });
  reportProgress("warming up");
  await pushTills(count);
  const p50: BenchmarkMeasurementPair[] = [];
  const p99: BenchmarkMeasurementPair[] = [];
  for (let repetition = 1; repetition <= repetitions; repetition += 1) {
    reportProgress(`${repetition} of ${repetitions}`);
    const { reportDelaysMs } = await pushTills(count);
    const { durationsMs } = await runBenchSubprocessForJson<{ durationsMs: number[] }>(
      "report-baseline",
      [file, count],
      {
        DATABASE_URL: environment.urls.DATABASE_URL,
      },
    );
    p50.push({ ours: computePercentile(reportDelaysMs, 0.5), baseline: computePercentile(durationsMs, 0.5) });
    p99.push({ ours: computePercentile(reportDelaysMs, 0.99), baseline: computePercentile(durationsMs, 0.99) });
  }
  return { p50, p99 };
}
