import { z } from "zod";
import type { RequestIssueCode } from "./errors.ts";
import { metricsExample } from "./examples/metrics.ts";
import { boundedString, withUnstorableTextCheck } from "./fields.ts";
import {
  canCombineMetricDimensions,
  canMeasureByDimension,
  describeMetricMeasure,
  describeMetricValue,
  getMetricDimension,
  getMetricMeasure,
  listCombinableDimensions,
  listDimensionsOfMeasure,
  listMeasuresOfDimension,
  listMetricValueFields,
  type MetricDimension,
  type MetricMeasure,
  metricDimensionGroupNames,
  metricDimensionNames,
  type metricDimensions,
  metricMeasureNames,
  metricMeasures,
  metricUnits,
  unattributedMeasures,
} from "./metric-definitions.ts";
import { checkSinceIsNotAfterUntil, dayQueryParameter, integerQueryParameter } from "./pagination.ts";

/** The limits of a query. */
export const metricLimits = {
  dimensions: 4,
  /** Days from `since` to `until`, both included. */
  days: 731,
  filterDimensions: 10,
  filterValues: 50,
  sortFields: 3,
  rows: 1_000,
  locations: 100,
  /** Rows of each period before `limit` applies. A query with more is rejected. */
  rowsBeforeLimit: 20_000,
} as const;

const defaultRows = 100;
const firstSince = "1900-01-01";

export const metricComparisons = {
  previous_period:
    "the same number of days before `since`. If the range consists of whole calendar months, the same number of calendar months before",
  previous_year: "the same dates a year before",
} as const;

export type MetricComparison = keyof typeof metricComparisons;

const comparisonNames = Object.keys(metricComparisons) as [MetricComparison, ...MetricComparison[]];
const comparisonDescription = comparisonNames.map((name) => `\`${name}\`: ${metricComparisons[name]}.`).join(" ");

/** A field by which rows are sorted. */
export interface MetricSortField {
  name: MetricMeasure | MetricDimension;
  isDescending: boolean;
}

/** The accepted values by dimension. */
export type MetricFilters = Partial<Record<MetricDimension, string[]>>;

const addIssue = (context: z.core.$RefinementCtx, code: RequestIssueCode, message: string, path: PropertyKey[] = []) =>
  context.addIssue({ code: "custom", path, params: { code }, message });

const quote = (name: string) => JSON.stringify(name.slice(0, 60));

const maxListLength = 1_000;
const splitList = (text: string) => text.split(",").map((item) => item.trim());

/** Returns the schema of a list of different names, separated by commas. */
function nameListParameter<Name extends string>(kind: string, names: readonly Name[], max: number) {
  return boundedString(maxListLength).transform((text, context): Name[] => {
    const listed = text.trim() === "" ? [] : splitList(text);
    const found = new Set<Name>();
    for (const item of listed) {
      const name = names.find((candidate) => candidate === item);
      if (name === undefined)
        addIssue(context, "invalid_value", `${quote(item)} is not a ${kind}. Use some of: ${names.join(", ")}`);
      else if (found.has(name)) addIssue(context, "duplicate", `Contains ${name} twice. Remove one of them`);
      else found.add(name);
    }
    if (listed.length > max) addIssue(context, "too_big", `Must have at most ${max} ${kind}s; got ${listed.length}`);
    return [...found];
  });
}

const measuresParameter = nameListParameter("measure", metricMeasureNames, metricMeasureNames.length)
  .refine((measures) => measures.length > 0, {
    error: `Must have at least one measure. Use some of: ${metricMeasureNames.join(", ")}`,
    params: { code: "too_small" },
  })
  .meta({
    description: `Figures to compute, separated by commas: ${metricMeasureNames.map((name) => `\`${name}\``).join(", ")}. \`GET /v1/metrics/meta\` describes them.`,
    type: "string",
    example: "sales,orders",
  });

const dimensionsParameter = nameListParameter("dimension", metricDimensionNames, metricLimits.dimensions)
  .default([])
  .meta({
    description: `What to group by, separated by commas, at most ${metricLimits.dimensions}: ${metricDimensionNames.map((name) => `\`${name}\``).join(", ")}. Without dimensions, the response has one row for each currency. \`GET /v1/metrics/meta\` states which of them can be combined.`,
    type: "string",
    example: "day,room",
    default: "",
  });

const sortParameter = boundedString(maxListLength)
  .transform((text, context): MetricSortField[] => {
    const names = [...metricMeasureNames, ...metricDimensionNames];
    const fields: MetricSortField[] = [];
    for (const item of text.trim() === "" ? [] : splitList(text)) {
      const isDescending = item.startsWith("-");
      const name = names.find((candidate) => candidate === item.slice(isDescending ? 1 : 0));
      if (name === undefined)
        addIssue(context, "invalid_value", `${quote(item)} is neither a measure nor a dimension of the query`);
      else if (fields.some((field) => field.name === name))
        addIssue(context, "duplicate", `Contains ${name} twice. Remove one of them`);
      else fields.push({ name, isDescending });
    }
    if (fields.length > metricLimits.sortFields)
      addIssue(context, "too_big", `Must have at most ${metricLimits.sortFields} fields; got ${fields.length}`);
    return fields;
  })
  .default([])
  .meta({
    description: `Measures and dimensions of the query by which rows are sorted, separated by commas, at most ${metricLimits.sortFields}. \`-\` before a name means descending. By default, rows are sorted by their time dimensions, and without time dimensions by the first measure, descending. Rows of several currencies are always sorted by currency first.`,
    type: "string",
    example: "-sales",
    default: "",
  });

const filterValueSchema = z.union([boundedString(1_024), z.int()], {
  error: "Must be a text of at most 1024 characters, or an integer",
});
const filtersSchema = withUnstorableTextCheck(z.record(z.string(), z.array(filterValueSchema)));
const filtersExample = '{"paymentMethod": ["card"], "room": ["Terrasse"]}';
const maxFiltersLength = 20_000;

const filtersParameter = boundedString(maxFiltersLength)
  .transform((text, context): MetricFilters => {
    if (text.trim() === "") return {};
    let parsed: z.ZodSafeParseResult<Record<string, (string | number)[]>> | undefined;
    try {
      parsed = filtersSchema.safeParse(JSON.parse(text));
    } catch {}
    if (!parsed?.success) {
      const path = parsed?.error.issues[0]?.path[0];
      const at = typeof path === "string" ? ` The values of ${quote(path)} are invalid.` : "";
      addIssue(
        context,
        "invalid_format",
        `Must be a JSON object with a list of texts or integers for each dimension, such as ${filtersExample}, without NUL characters or unpaired surrogates.${at}`,
      );
      return {};
    }
    const entries = Object.entries(parsed.data);
    if (entries.length > metricLimits.filterDimensions)
      addIssue(
        context,
        "too_big",
        `Must have at most ${metricLimits.filterDimensions} dimensions; got ${entries.length}`,
      );
    const filters: MetricFilters = {};
    for (const [key, values] of entries) {
      const name = metricDimensionNames.find((candidate) => candidate === key);
      if (name === undefined) {
        const message = `${quote(key)} is not a dimension. Use some of: ${metricDimensionNames.join(", ")}`;
        addIssue(context, "invalid_value", message);
        continue;
      }
      const texts = values.map(String);
      const { filter } = getMetricDimension(name);
      const wrong = filter && texts.find((value) => !filter.pattern.test(value));
      if (wrong !== undefined)
        addIssue(context, "invalid_value", `The values of \`${name}\` must be ${filter?.expected}; got ${quote(wrong)}`);
      if (values.length === 0)
        addIssue(context, "too_small", `\`${name}\` must have at least 1 value. Remove ${name} to accept all`);
      if (values.length > metricLimits.filterValues)
        addIssue(
          context,
          "too_big",
          `\`${name}\` must have at most ${metricLimits.filterValues} values; got ${values.length}`,
        );
      filters[name] = texts;
    }
    return filters;
  })
  .default({})
  .meta({
    description: `A JSON object with a list of accepted values for each dimension to filter by, in percent-encoding. At most ${metricLimits.filterDimensions} dimensions with up to ${metricLimits.filterValues} values each. A value matches if it equals the \`id\`, \`name\`, \`type\` or \`mode\` of a dimension value; an empty text matches a missing one. \`gifted\` and \`afterFinalization\` cannot be filtered. A filter need not be one of \`dimensions\`, but the same rules state with which dimensions and measures it can be combined.`,
    type: "string",
    example: filtersExample,
    default: "{}",
  });

const metricDay = (description: string) => dayQueryParameter.meta({ ...dayQueryParameter.meta(), description });

const locationIdsParameter = boundedString(metricLimits.locations * 40)
  .transform((text, context): string[] => {
    const ids = new Set(splitList(text).map((id) => id.toLowerCase()));
    const wrong = [...ids].find((id) => !z.guid().safeParse(id).success);
    if (wrong !== undefined)
      addIssue(context, "invalid_format", `Must be UUIDs, separated by commas; got ${quote(wrong)}`);
    if (ids.size > metricLimits.locations)
      addIssue(context, "too_big", `Must have at most ${metricLimits.locations} locations; got ${ids.size}`);
    return [...ids];
  })
  .optional()
  .meta({
    description: `IDs of the locations whose data is returned, separated by commas, at most ${metricLimits.locations}. Any location other than the API key's location requires the scope \`locations:any\`. Use either this parameter or \`locationId\`.`,
    type: "string",
    example: "7d0c1c1e-4f6f-4c8b-9c53-0f8f4c1f9a11,0b54cd2b-1c6b-4d9c-8d2b-1a7a42a6f0de",
  });

const dayMs = 24 * 60 * 60 * 1000;

/** The query of `GET /v1/metrics/`. */
export const MetricsQuery = z
  .object({
    measures: measuresParameter,
    dimensions: dimensionsParameter,
    since: metricDay("First business day to include, as YYYY-MM-DD in the location's time zone"),
    until: metricDay(
      `Last business day to include, as YYYY-MM-DD in the location's time zone. A query can contain up to ${metricLimits.days} days.`,
    ),
    compare: z
      .enum(comparisonNames, { error: `Must be one of: ${comparisonNames.join(", ")}` })
      .optional()
      .meta({ description: `Earlier period to compare with. ${comparisonDescription}`, example: "previous_year" }),
    filters: filtersParameter,
    sort: sortParameter,
    limit: integerQueryParameter(z.int().min(1).max(metricLimits.rows)).default(defaultRows).meta({
      description: "Maximum number of rows in the response. `omittedRowCount` states how many were omitted.",
      example: 100,
      type: "integer",
      minimum: 1,
      maximum: metricLimits.rows,
      default: defaultRows,
    }),
    locationId: z.guid().optional().meta({
      description:
        "ID of the location whose data is returned. Defaults to the API key's location. Any other location requires the scope `locations:any`.",
    }),
    locationIds: locationIdsParameter,
  })
  .check(checkSinceIsNotAfterUntil)
  .superRefine(({ since, until, locationId, locationIds, ...query }, context) => {
    const days = Math.round((Date.parse(until) - Date.parse(since)) / dayMs) + 1;
    if (since < firstSince) addIssue(context, "too_small", `Must not be before ${firstSince}`, ["since"]);
    if (days > metricLimits.days) {
      const message = `Must be at most ${metricLimits.days} days from since to until; got ${days}. Send several requests instead`;
      addIssue(context, "too_big", message, ["until"]);
    }
    if (locationId !== undefined && locationIds !== undefined)
      addIssue(context, "conflict", "Must not be used together with locationId. Remove one of them", ["locationIds"]);
    for (const { path, message } of listMetricCombinationIssues(query)) addIssue(context, "conflict", message, [path]);
  });

export type MetricsQuery = z.output<typeof MetricsQuery>;

type CombinedFields = Pick<z.output<typeof MetricsQuery>, "measures" | "dimensions" | "filters" | "sort">;

/** Returns what cannot be combined in a query, with how to correct it. */
function listMetricCombinationIssues({ measures, dimensions, filters, sort }: CombinedFields) {
  const issues: { path: keyof CombinedFields; message: string }[] = [];
  const filtered = (Object.keys(filters) as MetricDimension[]).filter((name) => !dimensions.includes(name));
  const used = [
    ...dimensions.map((name) => ({ name, path: "dimensions" as const })),
    ...filtered.map((name) => ({ name, path: "filters" as const })),
  ];
  for (const [index, { name, path }] of used.entries()) {
    const other = used.slice(0, index).find((earlier) => !canCombineMetricDimensions(earlier.name, name));
    if (other)
      issues.push({
        path,
        message: `${name} cannot be combined with ${other.name}. Remove one of them. ${name} can be combined with: ${listCombinableDimensions(name).join(", ")}`,
      });
    for (const measure of measures)
      if (!canMeasureByDimension(measure, name))
        issues.push({
          path,
          message: `${measure} cannot be combined with ${name}. Remove one of them. ${name} can be combined with the measures ${listMeasuresOfDimension(name).join(", ")}. ${measure} can be combined with the dimensions ${listDimensionsOfMeasure(measure).join(", ")}`,
        });
  }
  const sortable: string[] = [...measures, ...dimensions];
  for (const { name } of sort)
    if (!sortable.includes(name))
      issues.push({
        path: "sort",
        message: `${name} is not part of this query. Add it to ${name in metricMeasures ? "measures" : "dimensions"}, or sort by some of: ${sortable.join(", ")}`,
      });
  return issues;
}

/** Returns the shape of an object with an optional field for each of the names. */
function optionalFields<Name extends string, Field extends z.ZodType>(
  names: readonly Name[],
  createField: (name: Name) => Field,
) {
  const entries = names.map((name) => [name, createField(name).optional()]);
  return Object.fromEntries(entries) as { [Key in Name]: z.ZodOptional<Field> };
}

const valuesSchema = z
  .object(
    optionalFields(metricMeasureNames, (name) =>
      z
        .int()
        .nullable()
        .meta({ description: describeMetricMeasure(name) }),
    ),
  )
  .meta({ id: "MetricValues", description: "The values of the measures of the query", example: { sales: 1440 } });

export type MetricValues = z.infer<typeof valuesSchema>;

const differencesSchema = z
  .object(
    optionalFields(metricMeasureNames, (name) =>
      z
        .int()
        .nullable()
        .meta({
          description: `Value of \`${name}\` minus its value in the earlier period; null if one of them is null`,
        }),
    ),
  )
  .meta({
    id: "MetricDifferences",
    description: "Values minus those of the earlier period",
    example: { sales: -1440 },
  });

const percentsSchema = z
  .object(
    optionalFields(metricMeasureNames, (name) =>
      z
        .number()
        .nullable()
        .meta({
          description: `Difference of \`${name}\` in percent of the absolute earlier value, with at most 2 decimals; null if the earlier value is 0 or null`,
        }),
    ),
  )
  .meta({ id: "MetricPercents", description: "Differences in percent", example: { sales: -50 } });

const dimensionFields = Object.fromEntries(
  metricDimensionNames.map((name) => {
    const { schema, description, group } = getMetricDimension(name);
    const field = group === "time" ? schema.nullable() : schema;
    const absent = ". Null if the period has no such position";
    return [name, field.optional().meta({ description: `${description}${group === "time" ? absent : ""}` })];
  }),
);

/** Values of dimensions. Those of time are null if a compared period has no day, week or month at this position. */
export type MetricDimensionValues = {
  [Name in MetricDimension]?: z.infer<(typeof metricDimensions)[Name]["schema"]> | null;
};

const dimensionValuesSchema = z.object(dimensionFields).meta({
  id: "MetricDimensionValues",
  description: "The values of the dimensions of the query",
  example: { day: "2026-05-29" },
}) as z.ZodType<MetricDimensionValues>;

const comparisonShape = {
  values: valuesSchema.meta({ description: "Values in the earlier period; 0 if it has no such row" }),
  differences: differencesSchema,
  percents: percentsSchema,
};

const currencySchema = z
  .string()
  .nullable()
  .meta({ description: "ISO 4217 code of the currency; null for locations whose currency is unknown", example: "EUR" });

export const MetricRow = z
  .object({
    currency: currencySchema,
    dimensions: dimensionValuesSchema,
    values: valuesSchema,
    comparison: z
      .object({
        dimensions: dimensionValuesSchema.meta({
          description:
            "Dimension values of the row in the earlier period. Days, weeks and months are those at the same position of the period, and other values are the same.",
        }),
        ...comparisonShape,
      })
      .nullable()
      .meta({ description: "The same row in the earlier period; null without `compare`" }),
  })
  .meta({
    id: "MetricRow",
    description: "The values of a combination of dimension values",
    example: metricsExample.data[0],
  });

export type MetricRow = z.infer<typeof MetricRow>;

const unattributedSchema = z.object(
  optionalFields(unattributedMeasures, (name) => z.int().meta({ description: describeMetricMeasure(name) })),
);

const totalsSchema = z
  .object({
    currency: currencySchema,
    values: valuesSchema.meta({ description: "Values of all rows together, including omitted rows" }),
    comparison: z
      .object(comparisonShape)
      .nullable()
      .meta({ description: "The totals of the earlier period; null without `compare`" }),
    unattributed: unattributedSchema.nullable().meta({
      description:
        "The part of the sales that no product row explains, because orders declare other totals than their rows. Values plus this part are the totals without product dimensions. Null without a product dimension, with a filter by one, and if the query has neither `sales` nor `salesWithoutTax`.",
    }),
  })
  .meta({ id: "MetricTotals", description: "The totals of a currency", example: metricsExample.totals[0] });

export type MetricTotals = z.infer<typeof totalsSchema>;

const measureNameSchema = z.enum(metricMeasureNames);
const dimensionNameSchema = z.enum(metricDimensionNames);

/** The response of `GET /v1/metrics/`. */
export const Metrics = z
  .object({
    since: z.iso.date().meta({ description: "First business day" }),
    until: z.iso.date().meta({ description: "Last business day" }),
    compareSince: z.iso
      .date()
      .nullable()
      .meta({ description: "First day of the earlier period; null without `compare`" }),
    compareUntil: z.iso
      .date()
      .nullable()
      .meta({ description: "Last day of the earlier period; null without `compare`" }),
    measures: z.array(measureNameSchema).meta({ description: "The measures of the query" }),
    dimensions: z.array(dimensionNameSchema).meta({ description: "The dimensions of the query" }),
    data: z.array(MetricRow).meta({
      description:
        "Rows, one for each combination of dimension values and currency. With `compare`, also those that only the earlier period has.",
    }),
    totals: z.array(totalsSchema).meta({ description: "Totals, one for each currency" }),
    rowCount: z.int().min(0).meta({ description: "Number of rows in `data`" }),
    omittedRowCount: z.int().min(0).meta({ description: "Number of rows that `limit` omitted" }),
    missingReportCount: z.int().min(0).meta({
      description:
        "Number of reports of the range, and of the earlier period, that are not part of the values yet. They were computed by an earlier version of the API, and are added in the background.",
    }),
  })
  .meta({ id: "Metrics", description: "Figures of reports by dimension", example: metricsExample });

export type Metrics = z.infer<typeof Metrics>;

const valueTypeSchema = z.enum(["string", "integer", "boolean", "object"]);
const scalarTypeSchema = z.enum(["string", "integer", "boolean"]);

const measureMetaSchema = z
  .object({
    name: measureNameSchema.meta({ description: "Name in queries and responses" }),
    description: z.string().meta({ description: "What the measure means" }),
    unit: z.enum(metricUnits).meta({ description: "`amount`: minor units of the currency. `count`: a number." }),
    equals: z.string().nullable().meta({
      description:
        "Fields of reports or days whose sum over the same range the measure equals; null if they contain no such figure",
    }),
    dimensions: z.array(dimensionNameSchema).meta({ description: "Dimensions that the measure can be combined with" }),
  })
  .meta({ id: "MetricMeasure", description: "A measure of metrics" });

const dimensionMetaSchema = z
  .object({
    name: dimensionNameSchema.meta({ description: "Name in queries and responses" }),
    description: z.string().meta({ description: "What the dimension means" }),
    group: z.enum(metricDimensionGroupNames as [string, ...string[]]).meta({
      description: "Group of the dimension. Dimensions of a group can be combined with the same dimensions and measures.",
    }),
    valueType: valueTypeSchema.meta({ description: "JSON type of the values" }),
    isNullable: z.boolean().meta({ description: "Whether a value can be null, because it is missing" }),
    fields: z
      .array(
        z.object({
          name: z.string().meta({ description: "Name of the field" }),
          type: scalarTypeSchema.meta({ description: "JSON type of the field" }),
          isNullable: z.boolean().meta({ description: "Whether the field can be null" }),
          description: z.string().meta({ description: "What the field contains" }),
        }),
      )
      .meta({ description: "Fields of the values; empty if the values are not objects" }),
    measures: z.array(measureNameSchema).meta({ description: "Measures that the dimension can be combined with" }),
    dimensions: z
      .array(dimensionNameSchema)
      .meta({ description: "Other dimensions that the dimension can be combined with, as dimensions and as filters" }),
  })
  .meta({ id: "MetricDimension", description: "A dimension of metrics" });

const allMeta = buildMetricsMeta();

/** The response of `GET /v1/metrics/meta`. */
export const MetricsMeta = z
  .object({
    measures: z.array(measureMetaSchema).meta({ description: "All measures" }),
    dimensions: z.array(dimensionMetaSchema).meta({ description: "All dimensions" }),
    comparisons: z
      .array(
        z.object({
          name: z.enum(comparisonNames).meta({ description: "Value of `compare`" }),
          description: z.string().meta({ description: "Which period it compares with" }),
        }),
      )
      .meta({ description: "Periods to compare with" }),
    limits: z
      .object({
        dimensions: z.int().meta({ description: "Maximum number of dimensions" }),
        days: z.int().meta({ description: "Maximum number of days from `since` to `until`, both included" }),
        filterDimensions: z.int().meta({ description: "Maximum number of dimensions to filter by" }),
        filterValues: z.int().meta({ description: "Maximum number of values for each dimension to filter by" }),
        sortFields: z.int().meta({ description: "Maximum number of fields to sort by" }),
        rows: z.int().meta({ description: "Maximum of `limit`" }),
        locations: z.int().meta({ description: "Maximum number of locations" }),
        rowsBeforeLimit: z.int().meta({
          description: "Maximum number of rows of each period before `limit` applies. Queries with more are rejected.",
        }),
      })
      .meta({ description: "Limits of queries" }),
  })
  .meta({
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
      return { name, description, unit, equals, dimensions: listDimensionsOfMeasure(name) };
    }),
    dimensions: metricDimensionNames.map((name) => {
      const { description, group } = getMetricDimension(name);
      const { type: valueType, isNullable } = describeMetricValue(name);
      return {
        ...{ name, description, group, valueType, isNullable },
        fields: listMetricValueFields(name),
        measures: listMeasuresOfDimension(name),
        dimensions: listCombinableDimensions(name),
      };
    }),
    comparisons: comparisonNames.map((name) => ({ name, description: metricComparisons[name] })),
    limits: metricLimits,
  };
}
