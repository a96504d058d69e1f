/** The median and the extremes of repeated measurements of one quantity. */
export interface MeasurementSpread {
  median: number;
  min: number;
  max: number;
}

/** @throws RangeError when there are no values. */
export function computeMeasurementSpread(values: number[]): MeasurementSpread {
  const median = computePercentile(values, 0.5);
  return { median, min: Math.min(...values), max: Math.max(...values) };
}

/**
 * Returns the percentile `part` (0 to 1) of the values, interpolated linearly between two values.
 *
 * @throws RangeError when there are no values.
 */
export function computePercentile(values: number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * part;
  const below = sorted[Math.floor(position)];
  const above = sorted[Math.ceil(position)];
  if (below === undefined || above === undefined) throw new RangeError("There is no percentile of no values.");
  return below + (above - below) * (position - Math.floor(position));
}
