import { computeMedianMinMax, type MedianMinMax } from "./measurement-spread.ts";

/** The goal of a ratio: the ratio should not be above `max`, or should not be below `min`. */
export type BenchmarkRatioGoal = { max: number } | { min: number };

/** One line of the results table: the product, the baseline and their ratio. */
export interface ProductToBaselineComparison {
  label: string;
  /** The unit of the product's and the baseline's values, such as "ms" or "requests/s". */
  unit: string;
  ours: MedianMinMax;
  baseline: MedianMinMax;
  /** The spread, over all repetitions, of the product's value divided by the baseline's value. */
  ratio: MedianMinMax;
  goal?: BenchmarkRatioGoal;
}

/** Returns whether the median ratio meets the goal; undefined if there is no goal. */
export function isBenchmarkRatioGoalMet({ goal, ratio }: ProductToBaselineComparison): boolean | undefined {
  if (!goal) return undefined;
  return "max" in goal ? ratio.median <= goal.max : ratio.median >= goal.min;
}

/** A measurement of the product and one of the baseline, taken in the same run under similar conditions. */
export interface BenchmarkMeasurementPair {
  ours: number;
  baseline: number;
}

/** Returns the figure that summarizes pairs of measurements. */
export function computeBenchmarkComparison(
  pairs: BenchmarkMeasurementPair[],
  { label, unit, goal }: { label: string; unit: string; goal?: BenchmarkRatioGoal },
): ProductToBaselineComparison {
  return {
    label,
    unit,
    ours: computeMedianMinMax(pairs.map(({ ours }) => ours)),
    baseline: computeMedianMinMax(pairs.map(({ baseline }) => baseline)),
    ratio: computeMedianMinMax(pairs.map(({ ours, baseline }) => ours / baseline)),
    ...(goal && { goal }),
  };
}
