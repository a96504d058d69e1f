import { expect, it } from "vitest";
import { summarizeMeasurements } from "./benchmark-figure.ts";
import { formatResultsTable } from "./results-table.ts";

const pairs = [
  { ours: 30, limit: 10 },
  { ours: 20, limit: 20 },
  { ours: 24, limit: 16 },
];

function lineOf(goal: Parameters<typeof summarizeMeasurements>[1]["goal"]): string[] {
  const figure = summarizeMeasurements(pairs, { what: "CPU a request", unit: "µs", ...(goal && { goal }) });
  const table = formatResultsTable([{ id: "a", title: "A hop", limit: "nginx", figures: [figure], notes: [] }]);
  return (table.split("\n")[2] ?? "").split("|").map((cell) => cell.trim());
}

it("shows the medians of both sides, and of the ratio the spread too", () => {
  const [, ...cells] = lineOf({ atMost: 2, aim: 1.25 });
  expect(cells).toEqual([
    "a",
    "CPU a request",
    "24.0 µs",
    "16.0 µs",
    "1.50",
    "1.00 to 3.00",
    "<= 2 (aim 1.25)",
    "met",
    "",
  ]);
});

it("says where a goal is not met, and nothing where there is none", () => {
  expect(lineOf({ atMost: 1.4 })).toContain("NOT MET");
  expect(lineOf({ atLeast: 1.6 })).toContain("NOT MET");
  expect(lineOf({ atLeast: 1.5 })).toContain("met");
  expect(lineOf(undefined).at(-2)).toBe("");
});

it("says why a row was not measured", () => {
  const table = formatResultsTable([
    { id: "a", title: "A hop", limit: "nginx", skipped: "nginx is not on this machine." },
  ]);
  expect(table).toContain("not measured: nginx is not on this machine.");
});
