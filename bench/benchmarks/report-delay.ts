import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BenchEnvironment } from "../bench-environment.ts";
import type { BenchLocation } from "../bench-location.ts";
import type { Benchmark } from "../benchmark.ts";
import { type BenchmarkFigure, type MeasurementPair, summarizeMeasurements } from "../benchmark-figure.ts";
import { percentile } from "../measurement-spread.ts";
import type { ProductUnderLoad } from "../product-under-load.ts";
import { runMeasuredProgram } from "../run-measured-program.ts";
import { busyShiftTillJson, quietShiftTillJson } from "../sample-tills.ts";

/** Milliseconds between two questions for a report. */
const reportPollIntervalMs = 2;

const tillScenarios = [
  { name: "40 orders", template: quietShiftTillJson, tills: 100 },
  { name: "150 orders, 1.4 MB", template: busyShiftTillJson, tills: 40 },
];

export const reportDelayBenchmark: Benchmark = {
  id: "e",
  title: "From the push's reply to the report being readable, the product in separate processes",
  limit: "the calculation and one durable insert of the same texts as one row, in one process, alone",
  async run(lab, tell) {
    const { product, shop } = await lab.sharedProduct("split");
    const figures: BenchmarkFigure[] = [];
    for (const kind of tillScenarios) {
      for (const pushers of [1, 4]) {
        const what = `${kind.name}, ${pushers === 1 ? "alone" : `${pushers} pushers`}`;
        const measured = { ...kind, pushers, product, shop, tell: (detail: string) => tell(`${what}: ${detail}`) };
        const { p50, p99 } = await compareReportDelay(lab, measured);
        figures.push(
          summarizeMeasurements(p50, { what: `${what}: p50`, unit: "ms" }),
          summarizeMeasurements(p99, { what: `${what}: p99`, unit: "ms" }),
        );
      }
    }
    const notes = [
      `A report is asked for every ${reportPollIntervalMs} ms, through the gateway: so much is in each figure.`,
      "A pusher pushes its next till once the report of the one before is readable.",
    ];
    return { figures, notes };
  },
};

interface ReportDelayComparison {
  template: string;
  tills: number;
  pushers: number;
  product: ProductUnderLoad;
  shop: BenchLocation;
  tell(detail: string): void;
}

async function compareReportDelay(
  lab: BenchEnvironment,
  { template, tills, pushers, product, shop, tell }: ReportDelayComparison,
) {
  const repetitions = lab.isQuick ? 2 : 5;
  const count = lab.isQuick ? 10 : tills;
  const file = join(lab.folder, `till-${template.length}.json`);
  writeFileSync(file, template);
  const push = (many: number) =>
    lab.loadGenerator.run("push", {
      origin: product.url,
      headers: shop.headers,
      template,
      tills: many,
      pushers,
      askEvery: reportPollIntervalMs,
    });
  tell("warming up");
  await push(count);
  const p50: MeasurementPair[] = [];
  const p99: MeasurementPair[] = [];
  for (let turn = 1; turn <= repetitions; turn += 1) {
    tell(`${turn} of ${repetitions}`);
    const { reportDelaysMs } = await push(count);
    const { took } = await runMeasuredProgram<{ took: number[] }>("bare-report", [file, count], {
      DATABASE_URL: lab.urls.DATABASE_URL,
    });
    p50.push({ ours: percentile(reportDelaysMs, 0.5), limit: percentile(took, 0.5) });
    p99.push({ ours: percentile(reportDelaysMs, 0.99), limit: percentile(took, 0.99) });
  }
  return { p50, p99 };
}
