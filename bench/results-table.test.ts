import { expect, it } from "vitest";
import { computeBenchmarkComparison } from "./benchmark-figure.ts";
import { formatBenchmarkResultsTable } from "./results-table.ts";

const pairs = [
  { ours: 30, baseline: 10 },
  { ours: 20, baseline: 20 },
  { ours: 24, baseline: 16 },
];

function lineOf(goal: Parameters<typeof computeBenchmarkComparison>[1]["goal"]): string[] {
  const figure = computeBenchmarkComparison(pairs, { label: "CPU per request", unit: "µs", ...(goal && { goal }) });
  const table = formatBenchmarkResultsTable([
    { id: "a", title: "A hop", baseline: "nginx", figures: [figure], notes: [] },
  ]);
  return (table.split("\n")[2] ?? "").split("|").map((cell) => cell.trim());
}

it("shows the medians of both sides, and the median and spread of the ratio", () => {
  const [, ...cells] = lineOf({ max: 2 });
  expect(cells).toEqual(["a", "CPU per request", "24.0 µs", "16.0 µs", "1.50", "1.00 to 3.00", "<= 2", "met", ""]);
});

it("marks goals that are not met, and leaves the cell empty without a goal", () => {
  expect(lineOf({ max: 1.4 })).toContain("not met");
  expect(lineOf({ min: 1.6 })).toContain("not met");
  expect(lineOf({ min: 1.5 })).toContain("met");
  expect(lineOf(undefined).at(-2)).toBe("");
});

it("shows why a benchmark was not measured", () => {
  const table = formatBenchmarkResultsTable([
    { id: "a", title: "A hop", baseline: "nginx", skipped: "nginx is not installed on this machine." },
  ]);
  expect(table).toContain("not measured: nginx is not installed on this machine.");
});
