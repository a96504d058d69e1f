import type { BenchEnvironment } from "./bench-environment.ts";
import type { BenchmarkComparison } from "./benchmark-figure.ts";

/** One comparison of the product with a baseline. */
export interface Benchmark {
  /** The name in `--only`. */
  id: string;
  title: string;
  /** Description of the other side of every ratio. */
  baseline: string;
  /** Measures, and reports each step to `reportProgress`. */
  run(environment: BenchEnvironment, reportProgress: (detail: string) => void): Promise<BenchmarkOutcome>;
}

export interface BenchmarkOutcome {
  figures: BenchmarkComparison[];
  /** Lines below the table. */
  notes: string[];
}

/** The outcome of a benchmark, or why it was not measured. */
export type BenchmarkResult = Pick<Benchmark, "id" | "title" | "baseline"> &
  (BenchmarkOutcome | { skipped: string } | { failed: string });

/** A benchmark cannot run on this machine. */
export class BenchmarkSkippedError extends Error {}
