/**
 * `npm run bench`: what the product costs, each figure as a ratio to what is possible on the same machine in the same
 * minutes. `-- --only a,c` measures some rows, `--quick` shortly, `--profile` writes CPU profiles too.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanUpAndWait } from "../deploy/local/process-cleanup.mjs";
import { describeError, printLine, withProgress } from "../deploy/local/terminal.mjs";
import { type BenchEnvironment, createBenchEnvironment } from "./bench-environment.ts";
import { readBenchOptions } from "./bench-options.ts";
import { type Benchmark, type BenchmarkResult, BenchmarkSkippedError } from "./benchmark.ts";
import { benchmarks } from "./benchmarks.ts";
import { formatHottestFunctions } from "./cpu-profile.ts";
import { describeMachine } from "./describe-machine.ts";
import { silenceErrorReporting } from "./report-error.ts";
import { formatResultsTable } from "./results-table.ts";

const resultsFolder = join(import.meta.dirname, "results");

let isInterrupted = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.once(signal, async () => {
    isInterrupted = true;
    silenceErrorReporting();
    await cleanUpAndWait();
    process.exit(130);
  });

try {
  await main();
} catch (error) {
  if (isInterrupted) await new Promise(() => {});
  printLine(describeError(error));
  process.exitCode = 1;
}
await cleanUpAndWait();

async function main(): Promise<void> {
  const { only, quick, profile } = readBenchOptions(
    process.argv.slice(2),
    benchmarks.map(({ id }) => id),
  );
  const profiles = profile ? join(resultsFolder, "profiles") : undefined;
  mkdirSync(resultsFolder, { recursive: true });
  const machine = [...describeMachine(), quick ? "quick: too short to judge by" : "full"];
  for (const line of machine) printLine(line);

  const lab = await withProgress("Starting servers", () => createBenchEnvironment({ isQuick: quick, profiles }));
  const outcomes: BenchmarkResult[] = [];
  try {
    for (const row of benchmarks) {
      if (only !== undefined && !only.includes(row.id)) continue;
      outcomes.push(await runBenchmark(row, lab));
      writeResults(machine, outcomes);
    }
  } finally {
    await withProgress("Stopping", () => lab.close());
  }

  printLine(`\n${writeResults(machine, outcomes)}`);
  if (profiles) printLine(formatHottestFunctions(profiles));
}

/** Writes what has been measured so far: a run that is cut short has not been for nothing. @returns the table. */
function writeResults(machine: string[], outcomes: BenchmarkResult[]): string {
  const table = formatResultsTable(outcomes.toSorted((a, b) => a.id.localeCompare(b.id)));
  writeFileSync(join(resultsFolder, "latest.md"), `${machine.join("  \n")}\n\n${table}\n`);
  writeFileSync(
    join(resultsFolder, "latest.json"),
    `${JSON.stringify({ machine, results: outcomes }, undefined, 2)}\n`,
  );
  return table;
}

async function runBenchmark(row: Benchmark, lab: BenchEnvironment): Promise<BenchmarkResult> {
  const { id, title, limit } = row;
  try {
    const outcome = await withProgress(`Row ${id}`, (tell) => row.run(lab, tell));
    return { id, title, limit, ...outcome };
  } catch (error) {
    // What is measured now fails because its servers end; nothing may be started any more.
    if (isInterrupted) await new Promise(() => {});
    if (error instanceof BenchmarkSkippedError) return { id, title, limit, skipped: error.message };
    process.exitCode = 1;
    return { id, title, limit, failed: describeError(error) };
  }
}
