import type { MeasurementSpread } from "./measurement-spread.ts";
import { computeMeasurementSpread } from "./measurement-spread.ts";

/** What a ratio should keep to. */
export type RatioGoal = { atMost: number; aim?: number } | { atLeast: number };

/** One line of the table: what the product does, what is possible, and how the two compare. */
export interface BenchmarkFigure {
  what: string;
  /** Of both sides: "ms", "requests/s", ... */
  unit: string;
  ours: MeasurementSpread;
  limit: MeasurementSpread;
  /** Ours by the limit's, of each repetition. */
  ratio: MeasurementSpread;
  goal?: RatioGoal;
}

/** Whether a figure keeps to its goal; undefined when it has none. */
export function isRatioGoalMet({ goal, ratio }: BenchmarkFigure): boolean | undefined {
  if (!goal) return undefined;
  return "atMost" in goal ? ratio.median <= goal.atMost : ratio.median >= goal.atLeast;
}

/** A measurement of both sides, one right after the other, so that both meet the same machine. */
export interface MeasurementPair {
  ours: number;
  limit: number;
}

/** The figure that pairs of measurements make. */
export function summarizeMeasurements(
  pairs: MeasurementPair[],
  { what, unit, goal }: { what: string; unit: string; goal?: RatioGoal },
): BenchmarkFigure {
  return {
    what,
    unit,
    ours: computeMeasurementSpread(pairs.map(({ ours }) => ours)),
    limit: computeMeasurementSpread(pairs.map(({ limit }) => limit)),
    ratio: computeMeasurementSpread(pairs.map(({ ours, limit }) => ours / limit)),
    ...(goal && { goal }),
  };
}
