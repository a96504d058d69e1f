import { computeMeasurementSpread, type MeasurementSpread } from "./measurement-spread.ts";

/** The limit that a ratio should stay within. */
export type RatioGoal = { max: number; target?: number } | { min: number };

/** One line of the results table: the product, the baseline and their ratio. */
export interface BenchmarkComparison {
  label: string;
  /** The unit of both sides, such as "ms" or "requests/s". */
  unit: string;
  ours: MeasurementSpread;
  baseline: MeasurementSpread;
  /** The product's value divided by the baseline's, of each repetition. */
  ratio: MeasurementSpread;
  goal?: RatioGoal;
}

/** Returns whether a figure meets its goal; undefined when it has none. */
export function isRatioGoalMet({ goal, ratio }: BenchmarkComparison): boolean | undefined {
  if (!goal) return undefined;
  return "max" in goal ? ratio.median <= goal.max : ratio.median >= goal.min;
}

/** A measurement of both sides, one right after the other, so that the machine is in the same state for both. */
export interface BenchmarkMeasurementPair {
  ours: number;
  baseline: number;
}

/** Returns the figure of pairs of measurements. */
export function summarizeMeasurements(
  pairs: BenchmarkMeasurementPair[],
  { label, unit, goal }: { label: string; unit: string; goal?: RatioGoal },
): BenchmarkComparison {
  return {
    label,
    unit,
    ours: computeMeasurementSpread(pairs.map(({ ours }) => ours)),
    baseline: computeMeasurementSpread(pairs.map(({ baseline }) => baseline)),
    ratio: computeMeasurementSpread(pairs.map(({ ours, baseline }) => ours / baseline)),
    ...(goal && { goal }),
  };
}
