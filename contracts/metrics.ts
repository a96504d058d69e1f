import { array, object, z } from "zod";
import { metricsExample } from "./examples/metrics.ts";
import { field } from "./fields.ts";
import {
  describeMetricMeasure,
  getMetricDimension,
  type MetricDimension,
  metricDimensionNameSchema,
  metricDimensionNames,
  type metricDimensions,
  metricMeasureNameSchema,
  metricMeasureNames,
  unattributedMeasures,
} from "./metric-definitions.ts";

/** Returns the shape of an object with an optional field for each of the names. */
function optionalFields<Name extends string, Field extends z.ZodType>(
  names: readonly Name[],
  createField: (name: Name) => Field,
) {
  const entries = names.map((name) => [name, createField(name).optional()]);
  return Object.fromEntries(entries) as { [Key in Name]: z.ZodOptional<Field> };
}

const valuesSchema = object(
  optionalFields(metricMeasureNames, (name) => field.nullableInteger(describeMetricMeasure(name))),
).meta({ id: "MetricValues", description: "The values of the measures of the query", example: { sales: 1440 } });

export type MetricValues = z.infer<typeof valuesSchema>;

const differencesSchema = object(
  optionalFields(metricMeasureNames, (name) =>
    field.nullableInteger(`Value of \`${name}\` minus its value in the earlier period; null if one of them is null`),
  ),
).meta({
  id: "MetricDifferences",
  description: "Values minus those of the earlier period",
  example: { sales: -1440 },
});

const percentsSchema = object(
  optionalFields(metricMeasureNames, (name) =>
    z
      .number()
      .nullable()
      .meta({
        description: `Difference of \`${name}\` in percent of the absolute earlier value, with at most 2 decimals; null if the earlier value is 0 or null`,
      }),
  ),
).meta({ id: "MetricPercents", description: "Differences in percent", example: { sales: -50 } });

const dimensionFields = Object.fromEntries(
  metricDimensionNames.map((name) => {
    const { schema, description, group } = getMetricDimension(name);
    const valueSchema = group === "time" ? schema.nullable() : schema;
    const absent = ". Null if the period has no such position";
    return [name, valueSchema.optional().describe(`${description}${group === "time" ? absent : ""}`)];
  }),
);

/** Values of dimensions. Those of time are null if a compared period has no day, week or month at this position. */
export type MetricDimensionValues = {
  [Name in MetricDimension]?: z.infer<(typeof metricDimensions)[Name]["schema"]> | null;
};

const dimensionValuesSchema = object(dimensionFields).meta({
  id: "MetricDimensionValues",
  description: "The values of the dimensions of the query",
  example: { day: "2026-05-29" },
}) as z.ZodType<MetricDimensionValues>;

const comparisonShape = {
  values: valuesSchema.describe("Values in the earlier period; 0 if it has no such row"),
  differences: differencesSchema,
  percents: percentsSchema,
};

const currencySchema = z
  .string()
  .nullable()
  .meta({ description: "ISO 4217 code of the currency; null for locations whose currency is unknown", example: "EUR" });

export const MetricRow = object({
  currency: currencySchema,
  dimensions: dimensionValuesSchema,
  values: valuesSchema,
  comparison: object({
    dimensions: dimensionValuesSchema.describe(
      "Dimension values of the row in the earlier period. Days, weeks and months are those at the same position of the period, and other values are the same.",
    ),
    ...comparisonShape,
  })
    .nullable()
    .describe("The same row in the earlier period; null without `compare`"),
}).meta({
  id: "MetricRow",
  description: "The values of a combination of dimension values",
  example: metricsExample.data[0],
});

export type MetricRow = z.infer<typeof MetricRow>;

const unattributedSchema = object(
  optionalFields(unattributedMeasures, (name) => field.integer(describeMetricMeasure(name))),
);

const totalsSchema = object({
  currency: currencySchema,
  values: valuesSchema.describe("Values of all rows together, including omitted rows"),
  comparison: object(comparisonShape).nullable().describe("The totals of the earlier period; null without `compare`"),
  unattributed: unattributedSchema.nullable().meta({
    description:
      "The part of the sales that no product row explains, because orders declare other totals than their rows. Values plus this part are the totals without product dimensions. Null without a product dimension, with a filter by one, and if the query has neither `sales` nor `salesWithoutTax`.",
  }),
}).meta({ id: "MetricTotals", description: "The totals of a currency", example: metricsExample.totals[0] });

export type MetricTotals = z.infer<typeof totalsSchema>;

export const Metrics = object({
  since: field.date("First business day"),
  until: field.date("Last business day"),
  compareSince: field.nullableDate("First day of the earlier period; null without `compare`"),
  compareUntil: field.nullableDate("Last day of the earlier period; null without `compare`"),
  measures: array(metricMeasureNameSchema).describe("The measures of the query"),
  dimensions: array(metricDimensionNameSchema).describe("The dimensions of the query"),
  data: array(MetricRow).describe(
    "Rows, one for each combination of dimension values and currency. With `compare`, also those that only the earlier period has.",
  ),
  totals: array(totalsSchema).describe("Totals, one for each currency"),
  rowCount: field.count("Number of rows in `data`"),
  omittedRowCount: field.count("Number of rows that `limit` omitted"),
  missingReportCount: field.count(
    "Number of reports of the range, and of the earlier period, that are not part of the values, because a sum of their till exceeds 9,007,199,254,740,991 minor units (0 for real tills), or, by product and hour or service type, because they were computed before this combination existed.",
  ),
}).meta({ id: "Metrics", description: "Figures of reports by dimension", example: metricsExample });

export type Metrics = z.infer<typeof Metrics>;
