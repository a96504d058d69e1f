import { array, object, z } from "zod";
import { field } from "./fields.ts";
import {
  describeMetricValue,
  getMetricDimension,
  getMetricMeasure,
  listCombinableDimensions,
  listDimensionFields,
  listDimensionsOfMeasure,
  listMeasuresOfDimension,
  metricDimensionGroupNames,
  metricDimensionNameSchema,
  metricDimensionNames,
  metricMeasureNameSchema,
  metricMeasureNames,
  metricUnits,
} from "./metric-definitions.ts";
import { metricComparisonNames, metricComparisons, metricLimits } from "./metrics-query.ts";

const measureMetaSchema = object({
  name: metricMeasureNameSchema.describe("Name in queries and responses"),
  description: field.text("What the measure means"),
  unit: z.enum(metricUnits).describe("`amount`: minor units of the currency. `count`: a number."),
  equals: field.nullableText(
    "Fields of reports or days whose sum over the same range the measure equals; null if they contain no such figure",
  ),
  dimensions: array(metricDimensionNameSchema).describe("Dimensions that the measure can be combined with"),
}).meta({ id: "MetricMeasure", description: "A measure of metrics" });

const dimensionMetaSchema = object({
  name: metricDimensionNameSchema.describe("Name in queries and responses"),
  description: field.text("What the dimension means"),
  group: z.enum(metricDimensionGroupNames as [string, ...string[]]).meta({
    description: "Group of the dimension. Dimensions of a group can be combined with the same dimensions and measures.",
  }),
  valueType: z.enum(["string", "integer", "boolean", "object"]).describe("JSON type of the values"),
  isNullable: field.boolean("Whether a value can be null, because it is missing"),
  fields: array(
    object({
      name: field.text("Name of the field"),
      type: z.enum(["string", "integer", "boolean"]).describe("JSON type of the field"),
      isNullable: field.boolean("Whether the field can be null"),
      description: field.text("What the field contains"),
    }),
  ).describe("Fields of the values; empty if the values are not objects"),
  measures: array(metricMeasureNameSchema).describe("Measures that the dimension can be combined with"),
  dimensions: array(metricDimensionNameSchema).describe(
    "Other dimensions that the dimension can be combined with, as dimensions and as filters",
  ),
}).meta({ id: "MetricDimension", description: "A dimension of metrics" });

const allMeta = buildMetricsMeta();

export const MetricsMeta = object({
  measures: array(measureMetaSchema).describe("All measures"),
  dimensions: array(dimensionMetaSchema).describe("All dimensions"),
  comparisons: array(
    object({
      name: z.enum(metricComparisonNames).describe("Value of `compare`"),
      description: field.text("Which period it compares with"),
    }),
  ).describe("Periods to compare with"),
  limits: object({
    dimensions: field.integer("Maximum number of dimensions"),
    days: field.integer("Maximum number of days from `since` to `until`, both included"),
    filterDimensions: field.integer("Maximum number of dimensions to filter by"),
    filterValues: field.integer("Maximum number of values for each dimension to filter by"),
    sortFields: field.integer("Maximum number of fields to sort by"),
    rows: field.integer("Maximum of `limit`"),
    locations: field.integer("Maximum number of locations"),
    rowsBeforeLimit: field.integer(
      "Maximum number of rows of each period before `limit` applies. Queries with more are rejected.",
    ),
  }).describe("Limits of queries"),
}).meta({
  id: "MetricsMeta",
  description: "The measures and dimensions of metrics, and which of them can be combined",
  example: {
    ...allMeta,
    measures: allMeta.measures.filter(({ name }) => name === "orders"),
    dimensions: allMeta.dimensions.filter(({ name }) => name === "room"),
  },
});

export type MetricsMeta = z.infer<typeof MetricsMeta>;

/** Returns the response of `GET /v1/metrics/meta`. */
export function buildMetricsMeta() {
  return {
    measures: metricMeasureNames.map((name) => {
      const { description, unit, equals } = getMetricMeasure(name);
      return { name, description, unit, equals: equals ?? null, dimensions: listDimensionsOfMeasure(name) };
    }),
    dimensions: metricDimensionNames.map((name) => {
      const { description, group } = getMetricDimension(name);
      const { type: valueType, isNullable } = describeMetricValue(name);
      return {
        ...{ name, description, group, valueType, isNullable },
        fields: listDimensionFields(name),
        measures: listMeasuresOfDimension(name),
        dimensions: listCombinableDimensions(name),
      };
    }),
    comparisons: metricComparisonNames.map((name) => ({ name, description: metricComparisons[name] })),
    limits: metricLimits,
  };
}
