/**
 * `npm run sizing`: updates the tables of deploy/SIZING.md that are computed from bytes and from the cost of packing, from
 * the results of the last run of the benchmark `bytes`. Also writes the figures to deploy/sizing-figures.json.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BenchmarkResult } from "./benchmark.ts";
import { buildSizingTables, replaceSizingTables, selectSizingFigures } from "./sizing-tables.ts";

const deployFolder = join(import.meta.dirname, "..", "deploy");
const resultsFile = join(import.meta.dirname, "results", "latest.json");
if (!existsSync(resultsFile)) {
  process.stderr.write("There are no results of a benchmark. First run: npm run bench -- --only bytes\n");
  process.exit(1);
}
const { machine, results } = JSON.parse(readFileSync(resultsFile, "utf8")) as {
  machine: string[];
  results: BenchmarkResult[];
};
const figures = selectSizingFigures(results.flatMap((result) => ("figures" in result ? result.figures : [])));
const page = join(deployFolder, "SIZING.md");
writeFileSync(page, replaceSizingTables(readFileSync(page, "utf8"), buildSizingTables(figures)));
writeFileSync(join(deployFolder, "sizing-figures.json"), `${JSON.stringify({ machine, figures }, undefined, 2)}\n`);
