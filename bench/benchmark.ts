import type { BenchEnvironment } from "./bench-environment.ts";
import type { ProductToBaselineComparison } from "./benchmark-figure.ts";

/** One comparison of the product with a baseline. */
export interface BenchmarkDefinition {
  /** The name by which `--only` selects the benchmark. */
  id: string;
  title: string;
  /** Describes what the product is compared with: another program, or the product under other conditions. */
  baseline: string;
  /** Runs the measurements. Calls `reportProgress` with each step. */
  run(environment: BenchEnvironment, reportProgress: (detail: string) => void): Promise<BenchmarkFiguresAndNotes>;
}

export interface BenchmarkFiguresAndNotes {
  figures: ProductToBaselineComparison[];
  /** Notes that are printed below the results table, one line each. */
  notes: string[];
}

/** The outcome of a benchmark, or the reason why the benchmark was not measured. */
export type BenchmarkResult = Pick<BenchmarkDefinition, "id" | "title" | "baseline"> &
  (BenchmarkFiguresAndNotes | { skipped: string } | { failed: string });

/** The error that a benchmark throws if it cannot run on this machine. */
export class BenchmarkSkippedError extends Error {}
