import { listDimensionFields, type MetricDimension } from "@pragma/contracts/metric-definitions";
import type { MetricDimensionValues, Metrics } from "@pragma/contracts/metrics";
import { formatCsvLine } from "@pragma/runtime/http/csv-line";

type Scalar = string | number | boolean | null;

const capitalize = (name: string) => name.replace(/^./, (letter) => letter.toUpperCase());

/** Returns the columns of a dimension: `day`, or `productId` and `productName`. */
function listColumns(name: MetricDimension): { name: string; field: string | null }[] {
  const fields = listDimensionFields(name);
  if (fields.length === 0) return [{ name, field: null }];
  return fields.map(({ name: field }) => ({ name: `${name}${capitalize(field)}`, field }));
}

/** Returns the rows of a response as CSV (RFC 4180) with a header. */
export function formatMetricsCsv({ dimensions, measures, data, compareSince }: Metrics): string {
  const columns = dimensions.flatMap((dimension) => listColumns(dimension).map((column) => ({ ...column, dimension })));
  const read = (values: MetricDimensionValues | undefined): Scalar[] =>
    columns.map(({ dimension, field }) => {
      const value = values?.[dimension] ?? null;
      return field === null ? (value as Scalar) : ((value as Record<string, Scalar> | null)?.[field] ?? null);
    });
  const hasComparison = compareSince !== null;
  const comparedNames = [
    ...columns.map(({ name }) => `compared${capitalize(name)}`),
    ...measures.flatMap((measure) => [`compared${capitalize(measure)}`, `${measure}Difference`, `${measure}Percent`]),
  ];
  const header = ["currency", ...columns.map(({ name }) => name), ...measures, ...(hasComparison ? comparedNames : [])];
  const rows = data.map(({ currency, dimensions: values, values: figures, comparison }): Scalar[] => [
    currency,
    ...read(values),
    ...measures.map((measure) => figures[measure] ?? null),
    ...(hasComparison ? read(comparison?.dimensions) : []),
    ...(hasComparison
      ? measures.flatMap((measure) => [
          comparison?.values[measure] ?? null,
          comparison?.differences[measure] ?? null,
          comparison?.percents[measure] ?? null,
        ])
      : []),
  ]);
  return [header, ...rows].map(formatCsvLine).join("");
}
