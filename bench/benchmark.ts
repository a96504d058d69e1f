import type { BenchEnvironment } from "./bench-environment.ts";
import type { BenchmarkFigure } from "./benchmark-figure.ts";

/** One of the bench's questions. */
export interface Benchmark {
  /** By which `--only` names it. */
  id: string;
  title: string;
  /** What its limit is: the other side of every ratio. */
  limit: string;
  /** Measures; `tell` shows what is being done. */
  run(lab: BenchEnvironment, tell: (detail: string) => void): Promise<BenchmarkOutcome>;
}

export interface BenchmarkOutcome {
  figures: BenchmarkFigure[];
  /** What a reader needs to know besides. */
  notes: string[];
}

/** What became of a row: measured, or not, and why. */
export type BenchmarkResult = Pick<Benchmark, "id" | "title" | "limit"> &
  (BenchmarkOutcome | { skipped: string } | { failed: string });

/** A row cannot be measured on this machine. */
export class BenchmarkSkippedError extends Error {}
