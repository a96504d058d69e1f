import type { BenchmarkResult } from "./benchmark.ts";
import {
  type BenchmarkRatioGoal,
  isBenchmarkRatioGoalMet,
  type ProductToBaselineComparison,
} from "./benchmark-figure.ts";
import type { MedianMinMax } from "./measurement-spread.ts";

const tableHeaders = ["", "figure", "product", "baseline", "ratio", "min to max", "goal", ""] as const;

/** Returns the results as one Markdown table with aligned columns, followed by the notes of each benchmark. */
export function formatBenchmarkResultsTable(results: BenchmarkResult[]): string {
  const lines = results.flatMap((result) => {
    if ("figures" in result) return result.figures.map((figure) => formatFigureRow(result.id, figure));
    const reason = "skipped" in result ? `not measured: ${result.skipped}` : "failed, see below";
    return [[result.id, reason, "", "", "", "", "", ""]];
  });
  const widths = tableHeaders.map((head, column) =>
    Math.max(...[head, ...lines.map((line) => line[column] ?? "")].map(textWidth)),
  );
  const row = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => padCell(cell, widths[column] ?? 0, column)).join(" | ")} |`;
  const rule = `|${widths.map((size, column) => `${"-".repeat(size + 1)}${isNumericColumn(column) ? ":" : "-"}`).join("|")}|`;
  return [row(tableHeaders), rule, ...lines.map(row), "", ...results.flatMap(formatResultNotes)].join("\n");
}

function formatFigureRow(id: string, figure: ProductToBaselineComparison): string[] {
  const { label, unit, ours, baseline, ratio, goal } = figure;
  const goalStatus = { true: "met", false: "not met", undefined: "" }[String(isBenchmarkRatioGoalMet(figure))] ?? "";
  const measured = ({ median }: MedianMinMax) => `${formatThreeDigits(median)} ${unit}`;
  return [
    ...[id, label, measured(ours), measured(baseline)],
    ...[
      formatThreeDigits(ratio.median),
      `${formatThreeDigits(ratio.min)} to ${formatThreeDigits(ratio.max)}`,
      goal ? formatRatioGoal(goal) : "",
      goalStatus,
    ],
  ];
}

function formatRatioGoal(goal: BenchmarkRatioGoal): string {
  return "min" in goal ? `>= ${goal.min}` : `<= ${goal.max}`;
}

function formatResultNotes(result: BenchmarkResult): string[] {
  const notes = "notes" in result ? result.notes : "failed" in result ? `FAILED: ${result.failed}`.split("\n") : [];
  return [`${result.id}: ${result.title}`, `   baseline: ${result.baseline}`, ...notes.map((note) => `   ${note}`), ""];
}

/** Returns a number with three significant digits, but with at most four decimals and all digits before the point. */
function formatThreeDigits(value: number): string {
  if (value === 0) return "0";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(digits, 4));
}

const isNumericColumn = (column: number) => column >= 2 && column <= 5;
const textWidth = (text: string) => [...text].length;

function padCell(text: string, size: number, column: number): string {
  const spaces = " ".repeat(Math.max(0, size - textWidth(text)));
  return isNumericColumn(column) ? spaces + text : text + spaces;
}
