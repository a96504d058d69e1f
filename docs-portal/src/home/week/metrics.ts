/** The parts of a response of `GET /v1/metrics` that the home page shows. Amounts are in minor units. */
export interface MetricsAnswer {
  since: string;
  until: string;
  compareSince: string | null;
  compareUntil: string | null;
  data: MetricsRow[];
  totals: { currency: string | null; values: MetricValues; comparison: MetricsComparison | null }[];
}

export interface MetricsRow {
  /** Null if the currency of the location is unknown. */
  currency: string | null;
  dimensions: MetricsDimensions;
  values: MetricValues;
  comparison: MetricsComparison | null;
}

export interface MetricsComparison {
  /** The values of the dimensions in the earlier period, such as the day. Totals have none. */
  dimensions?: MetricsDimensions;
  values: MetricValues;
  differences: MetricValues;
  percents: MetricValues;
}

export type MetricValues = Record<string, number | null>;

interface MetricsDimensions {
  day?: string | null;
  hour?: number | null;
  product?: { name: string | null };
  paymentMethod?: { name: string | null; mode: string | null };
}
