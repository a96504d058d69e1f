/**
 * `npm run bench`: measures the product. Each figure is a ratio to a baseline, measured on the same machine in the same
 * run. `-- --only b,c` selects benchmarks, `--quick` shortens them, `--profile` also writes CPU profiles.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { findInstalledServerBinaries } from "../deploy/local/find-servers.js";
import { runRegisteredExitCleanup } from "../deploy/local/process-cleanup.mjs";
import { describeLocalCommandError, printLine, runTaskWithProgress } from "../deploy/local/terminal.mjs";
import { type BenchEnvironment, createBenchEnvironment } from "./bench-environment.ts";
import { readBenchOptions } from "./bench-options.ts";
import { type BenchmarkDefinition, type BenchmarkResult, BenchmarkSkippedError } from "./benchmark.ts";
import { consoleBenchmark } from "./benchmarks/console.ts";
import { webhookDeliveryCostBenchmark } from "./benchmarks/delivery-cost.ts";
import { webhookDeliveryDelayBenchmark } from "./benchmarks/delivery-delay.ts";
import { eReportsBenchmark } from "./benchmarks/e-reports.ts";
import { fairnessBenchmark } from "./benchmarks/fairness.ts";
import { gatewaySpeedBenchmark } from "./benchmarks/gateway-speed.ts";
import { paginationDepthBenchmark } from "./benchmarks/list-depth.ts";
import { liveOrdersBenchmark } from "./benchmarks/live-orders.ts";
import { memoryBenchmark } from "./benchmarks/memory.ts";
import { metricsBenchmark } from "./benchmarks/metrics.ts";
import { orderPageBenchmark } from "./benchmarks/order-page.ts";
import { packedListDepthBenchmark } from "./benchmarks/packed-list-depth.ts";
import { readsBenchmark } from "./benchmarks/reads.ts";
import { reportDelayBenchmark } from "./benchmarks/report-delay.ts";
import { slowWebhookEndpointsBenchmark } from "./benchmarks/slow-endpoints.ts";
import { storedBytesBenchmark } from "./benchmarks/stored-bytes.ts";
import { tillCostBenchmark } from "./benchmarks/till-cost.ts";
import { summarizeCpuProfilesInFolder } from "./cpu-profile.ts";
import { silenceBenchErrorPrinting } from "./report-error.ts";
import { formatBenchmarkResultsTable } from "./results-table.ts";

/** All benchmarks. The one that fills the database runs last, so that the others run with a small database. */
const benchmarks: BenchmarkDefinition[] = [
  readsBenchmark,
  gatewaySpeedBenchmark,
  orderPageBenchmark,
  tillCostBenchmark,
  reportDelayBenchmark,
  liveOrdersBenchmark,
  webhookDeliveryCostBenchmark,
  webhookDeliveryDelayBenchmark,
  slowWebhookEndpointsBenchmark,
  memoryBenchmark,
  fairnessBenchmark,
  consoleBenchmark,
  eReportsBenchmark,
  paginationDepthBenchmark,
  metricsBenchmark,
  storedBytesBenchmark,
  packedListDepthBenchmark,
];

const resultsFolder = join(import.meta.dirname, "results");

let isInterrupted = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.once(signal, async () => {
    isInterrupted = true;
    silenceBenchErrorPrinting();
    await runRegisteredExitCleanup();
    process.exit(130);
  });

try {
  await main();
} catch (error) {
  if (isInterrupted) await new Promise(() => {});
  printLine(describeLocalCommandError(error));
  process.exitCode = 1;
}
await runRegisteredExitCleanup();

async function main(): Promise<void> {
  const { only, quick, profile, before } = readBenchOptions(
    process.argv.slice(2),
    benchmarks.map(({ id }) => id),
  );
  const profiles = profile ? join(resultsFolder, "profiles") : undefined;
  mkdirSync(resultsFolder, { recursive: true });
  const machine = [...describeMachine(), quick ? "quick: too short for conclusions" : "full"];
  for (const line of machine) printLine(line);

  const environment = await runTaskWithProgress("Starting servers", () =>
    createBenchEnvironment({ isQuick: quick, profiles, earlierProgram: before && resolve(before) }),
  );
  const outcomes: BenchmarkResult[] = [];
  try {
    for (const benchmark of benchmarks) {
      if (only !== undefined && !only.includes(benchmark.id)) continue;
      outcomes.push(await runBenchmark(benchmark, environment));
      writeResults(machine, outcomes);
    }
  } finally {
    await runTaskWithProgress("Stopping", () => environment.close());
  }

  printLine(`\n${writeResults(machine, outcomes)}`);
  if (profiles) printLine(summarizeCpuProfilesInFolder(profiles));
}

/** Writes the results so far, so that an interrupted run does not lose them. @returns the results table. */
function writeResults(machine: string[], outcomes: BenchmarkResult[]): string {
  const table = formatBenchmarkResultsTable(outcomes.toSorted((a, b) => a.id.localeCompare(b.id)));
  writeFileSync(join(resultsFolder, "latest.md"), `${machine.join("  \n")}\n\n${table}\n`);
  writeFileSync(
    join(resultsFolder, "latest.json"),
    `${JSON.stringify({ machine, results: outcomes }, undefined, 2)}\n`,
  );
  return table;
}

async function runBenchmark(benchmark: BenchmarkDefinition, environment: BenchEnvironment): Promise<BenchmarkResult> {
  const { id, title, baseline } = benchmark;
  try {
    const outcome = await runTaskWithProgress(`Benchmark ${id}`, (reportProgress) =>
      benchmark.run(environment, reportProgress),
    );
    return { id, title, baseline, ...outcome };
  } catch (error) {
    // After an interrupt, errors are expected, because the servers are stopped. Waits until the process exits, so that
    // no other benchmark starts.
    if (isInterrupted) await new Promise(() => {});
    if (error instanceof BenchmarkSkippedError) return { id, title, baseline, skipped: error.message };
    process.exitCode = 1;
    return { id, title, baseline, failed: describeLocalCommandError(error) };
  }
}

/** Returns lines about the machine and the versions. Figures of two runs are comparable only if both are the same. */
function describeMachine(): string[] {
  const [cpu] = cpus();
  const versionOf = (kind: "postgres" | "nats" | "redis") =>
    findInstalledServerBinaries(kind)[0]?.version ?? "in a container";
  return [
    `${cpus().length} cores (${cpu?.model.trim() ?? "unknown"}), ${Math.round(totalmem() / 2 ** 30)} GB, Linux ${release()}`,
    `Node.js ${process.versions.node}, PostgreSQL ${versionOf("postgres")}, NATS ${versionOf("nats")}, Redis ${versionOf("redis")}`,
    `commit ${describeCommit()}; load average before: ${loadavg()[0]?.toFixed(1)} (other load on the machine affects every figure)`,
  ];
}

function describeCommit(): string {
  try {
    const git = (...args: string[]) =>
      execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return `${git("rev-parse", "--short", "HEAD").trim()}${git("status", "--porcelain") === "" ? "" : " with changes"}`;
  } catch {
    return "unknown";
  }
}
