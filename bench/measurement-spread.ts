/** The median and the extremes of repeated measurements of one quantity. */
export interface MedianMinMax {
  median: number;
  min: number;
  max: number;
}

/** Returns the median, minimum and maximum of the values. @throws RangeError if there are no values. */
export function computeMedianMinMax(values: number[]): MedianMinMax {
  const median = computePercentile(values, 0.5);
  return { median, min: Math.min(...values), max: Math.max(...values) };
}

/**
 * Returns a percentile of the values, interpolated linearly. `part` is the percentile as a fraction from 0 to 1.
 *
 * @throws RangeError when there are no values.
 */
export function computePercentile(values: number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * part;
  const below = sorted[Math.floor(position)];
  const above = sorted[Math.ceil(position)];
  if (below === undefined || above === undefined) throw new RangeError("A percentile needs at least one value.");
  return below + (above - below) * (position - Math.floor(position));
}
