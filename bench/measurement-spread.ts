/** What repeated measurements of one quantity gave. */
export interface MeasurementSpread {
  median: number;
  least: number;
  most: number;
}

/** @throws RangeError when there is nothing to spread. */
export function computeMeasurementSpread(values: number[]): MeasurementSpread {
  const median = percentile(values, 0.5);
  return { median, least: Math.min(...values), most: Math.max(...values) };
}

/**
 * The value that this part (0 to 1) of the values does not exceed; between two values in proportion.
 *
 * @throws RangeError when there are no values.
 */
export function percentile(values: number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * part;
  const below = sorted[Math.floor(place)];
  const above = sorted[Math.ceil(place)];
  if (below === undefined || above === undefined) throw new RangeError("There is no percentile of no values.");
  return below + (above - below) * (place - Math.floor(place));
}
