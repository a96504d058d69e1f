import { type Figure, type Goal, isMet } from "./figure.ts";
import type { Result } from "./row.ts";
import type { Spread } from "./spread.ts";

const heads = ["", "figure", "ours", "limit", "ratio", "min to max", "goal", ""] as const;

/** The results as one Markdown table that reads well on a terminal too, and what is to be said about them. */
export function tableOf(results: Result[]): string {
  const lines = results.flatMap((result) => {
    if ("figures" in result) return result.figures.map((figure) => lineOf(result.id, figure));
    const what = "skipped" in result ? `not measured: ${result.skipped}` : "failed, see below";
    return [[result.id, what, "", "", "", "", "", ""]];
  });
  const widths = heads.map((head, column) =>
    Math.max(...[head, ...lines.map((line) => line[column] ?? "")].map(width)),
  );
  const row = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => pad(cell, widths[column] ?? 0, column)).join(" | ")} |`;
  const rule = `|${widths.map((size, column) => `${"-".repeat(size + 1)}${isNumeric(column) ? ":" : "-"}`).join("|")}|`;
  return [row(heads), rule, ...lines.map(row), "", ...results.flatMap(explain)].join("\n");
}

function lineOf(id: string, figure: Figure): string[] {
  const { what, unit, ours, limit, ratio, goal } = figure;
  const verdict = { true: "met", false: "NOT MET", undefined: "" }[String(isMet(figure))] ?? "";
  const measured = ({ median }: Spread) => `${short(median)} ${unit}`;
  return [
    ...[id, what, measured(ours), measured(limit)],
    ...[short(ratio.median), `${short(ratio.least)} to ${short(ratio.most)}`, goal ? goalText(goal) : "", verdict],
  ];
}

function goalText(goal: Goal): string {
  if ("atLeast" in goal) return `>= ${goal.atLeast}`;
  return goal.aim === undefined ? `<= ${goal.atMost}` : `<= ${goal.atMost} (aim ${goal.aim})`;
}

function explain(result: Result): string[] {
  const notes = "notes" in result ? result.notes : "failed" in result ? `FAILED: ${result.failed}`.split("\n") : [];
  return [`${result.id}: ${result.title}`, `   limit: ${result.limit}`, ...notes.map((note) => `   ${note}`), ""];
}

/** Three digits that count. */
function short(value: number): string {
  if (value === 0) return "0";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(digits, 4));
}

const isNumeric = (column: number) => column >= 2 && column <= 5;
const width = (text: string) => [...text].length;

function pad(text: string, size: number, column: number): string {
  const spaces = " ".repeat(Math.max(0, size - width(text)));
  return isNumeric(column) ? spaces + text : text + spaces;
}
