import { array, object, z } from "zod";
import { countDays } from "./date-time.ts";
import type { RequestIssueCode } from "./errors.ts";
import { addIssue, boundedString, withUnstorableTextCheck } from "./fields.ts";
import {
  markAsListParameter,
  maxListCharacters,
  nameListParameter,
  quoteListItem as quote,
  splitList,
} from "./list-parameter.ts";
import {
  canCombineMetricDimensions,
  canMeasureByDimension,
  getMetricDimension,
  listCombinableDimensions,
  listDimensionsOfMeasure,
  listMeasuresOfDimension,
  type MetricDimension,
  type MetricMeasure,
  metricDimensionNames,
  metricMeasureNames,
  metricMeasures,
} from "./metric-definitions.ts";
import { checkSinceIsNotAfterUntil, dayQueryParameter, integerQueryParameter } from "./pagination.ts";

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
  rowsBeforeLimit: 10_000,
} as const;

const defaultLimit = 100;
const minSince = "1900-01-01";
const maxFiltersCharacters = 20_000;
const filtersExample = '{"paymentMethod": ["card"], "room": ["Terrasse"]}';

export const metricComparisons = {
  previous_period:
    "the same number of days before `since`. If the range consists of whole calendar months, the same number of calendar months before",
  previous_week:
    "the same weekdays before: one week before a range of up to 7 days, and otherwise as few whole weeks before as its length needs",
  previous_year: "the same dates a year before",
} as const;

export type MetricComparison = keyof typeof metricComparisons;

export const metricComparisonNames = Object.keys(metricComparisons) as [MetricComparison, ...MetricComparison[]];
const comparisonDescription = metricComparisonNames.map((name) => `\`${name}\`: ${metricComparisons[name]}.`).join(" ");

interface MetricSortField {
  name: MetricMeasure | MetricDimension;
  isDescending: boolean;
}

/** The accepted values by dimension. */
export type MetricFilters = Partial<Record<MetricDimension, string[]>>;

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

const sortParameter = boundedString(maxListCharacters)
  .transform((text, context): MetricSortField[] => {
    const names = [...metricMeasureNames, ...metricDimensionNames];
    const fields: MetricSortField[] = [];
    for (const item of text.trim() === "" ? [] : splitList(text)) {
      const isDescending = item.startsWith("-");
      const name = names.find((candidate) => candidate === item.slice(isDescending ? 1 : 0));
      if (name === undefined)
        addIssue(context, "invalid_value", "Must be measures and dimensions of the query", { received: quote(item) });
      else if (fields.some((field) => field.name === name))
        addIssue(context, "duplicate", `Contains ${name} twice. Remove one of them`);
      else fields.push({ name, isDescending });
    }
    if (fields.length > metricLimits.sortFields)
      addIssue(context, "too_big", `Must have at most ${metricLimits.sortFields} fields`, { received: fields.length });
    return fields;
  })
  .default([])
  .meta({
    description: `Measures and dimensions of the query by which rows are sorted, separated by commas, at most ${metricLimits.sortFields}. \`-\` before a name means descending. By default, rows are sorted by their time dimensions, and without time dimensions by the first measure, descending. Rows of several currencies are always sorted by currency first.`,
    type: "string",
    example: "-sales",
    default: "",
  });

const filterValueSchema = z.union(
  [boundedString(1_024), z.int()],
  "Must be a text of at most 1024 characters, or an integer",
);
const filtersSchema = withUnstorableTextCheck(z.record(z.string(), array(filterValueSchema)));

const filtersParameter = boundedString(maxFiltersCharacters)
  .transform((text, context): MetricFilters => {
    const report = (code: RequestIssueCode, message: string, received?: string | number) =>
      addIssue(context, code, message, { ...(received !== undefined && { received }) });
    if (text.trim() === "") return {};
    let parsed: z.ZodSafeParseResult<Record<string, (string | number)[]>> | undefined;
    try {
      // zod omits the name `__proto__`, so that this filter would be ignored.
      const rejectPrototype = (name: string, value: unknown) => {
        if (name === "__proto__") throw new SyntaxError(name);
        return value;
      };
      parsed = filtersSchema.safeParse(JSON.parse(text, rejectPrototype));
    } catch {}
    if (!parsed?.success) {
      const path = parsed?.error.issues[0]?.path[0];
      report(
        "invalid_format",
        `Must be a JSON object with a list of texts or integers for each dimension, such as ${filtersExample}, without NUL characters or unpaired surrogates`,
        typeof path === "string" ? `invalid values of ${quote(path)}` : undefined,
      );
      return {};
    }
    const entries = Object.entries(parsed.data);
    if (entries.length > metricLimits.filterDimensions)
      report("too_big", `Must have at most ${metricLimits.filterDimensions} dimensions`, entries.length);
    const filters: MetricFilters = {};
    for (const [key, values] of entries) {
      const name = metricDimensionNames.find((candidate) => candidate === key);
      if (name === undefined) {
        report(
          "invalid_value",
          `Must filter by some of the dimensions: ${metricDimensionNames.join(", ")}`,
          quote(key),
        );
        continue;
      }
      const texts = values.map(String);
      const { filter } = getMetricDimension(name);
      const wrong = filter && texts.find((value) => !filter.pattern.test(value));
      if (wrong !== undefined)
        report("invalid_value", `The values of \`${name}\` must be ${filter?.expected}`, quote(wrong));
      if (values.length === 0)
        report("too_small", `\`${name}\` must have at least 1 value. Remove ${name} to accept all`);
      if (values.length > metricLimits.filterValues)
        report("too_big", `\`${name}\` must have at most ${metricLimits.filterValues} values`, values.length);
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

const locationIdsParameter = boundedString(metricLimits.locations * 40)
  .transform((text, context): string[] => {
    const ids = new Set(splitList(text).map((id) => id.toLowerCase()));
    const wrong = [...ids].find((id) => !z.guid().safeParse(id).success);
    if (wrong !== undefined)
      addIssue(context, "invalid_format", "Must be UUIDs, separated by commas", { received: quote(wrong) });
    if (ids.size > metricLimits.locations)
      addIssue(context, "too_big", `Must have at most ${metricLimits.locations} locations`, { received: ids.size });
    return [...ids];
  })
  .optional()
  .meta({
    description: `IDs of the locations whose data is returned, separated by commas, at most ${metricLimits.locations}. Any location other than the API key's location requires the scope \`locations:any\`. Use either this parameter or \`locationId\`.`,
    type: "string",
    example: "7d0c1c1e-4f6f-4c8b-9c53-0f8f4c1f9a11,0b54cd2b-1c6b-4d9c-8d2b-1a7a42a6f0de",
  });

export const MetricsQuery = object({
  measures: markAsListParameter(measuresParameter),
  dimensions: markAsListParameter(dimensionsParameter),
  since: dayQueryParameter.describe("First business day to include, as YYYY-MM-DD in the location's time zone"),
  until: dayQueryParameter.describe(
    `Last business day to include, as YYYY-MM-DD in the location's time zone. A query can contain up to ${metricLimits.days} days.`,
  ),
  compare: z
    .enum(metricComparisonNames, `Must be one of: ${metricComparisonNames.join(", ")}`)
    .optional()
    .meta({ description: `Earlier period to compare with. ${comparisonDescription}`, example: "previous_year" }),
  filters: filtersParameter,
  sort: markAsListParameter(sortParameter),
  limit: integerQueryParameter(z.int().min(1).max(metricLimits.rows)).default(defaultLimit).meta({
    description: "Maximum number of rows in the response. `omittedRowCount` states how many were omitted.",
    example: 100,
    type: "integer",
    minimum: 1,
    maximum: metricLimits.rows,
    default: defaultLimit,
  }),
  locationId: z.guid().optional().meta({
    description:
      "ID of the location whose data is returned. Defaults to the API key's location. Any other location requires the scope `locations:any`.",
  }),
  locationIds: markAsListParameter(locationIdsParameter),
})
  .check(checkSinceIsNotAfterUntil)
  .superRefine(({ since, until, locationId, locationIds, measures, dimensions, filters, sort }, context) => {
    const days = countDays({ since, until });
    if (since < minSince) addIssue(context, "too_small", `Must not be before ${minSince}`, { path: ["since"] });
    if (days > metricLimits.days) {
      const message = `Must be at most ${metricLimits.days} days from since to until. Send several requests instead`;
      addIssue(context, "too_big", message, { path: ["until"], received: days });
    }
    if (locationId !== undefined && locationIds !== undefined)
      addIssue(context, "conflict", "Must not be used together with locationId. Remove one of them", {
        path: ["locationIds"],
      });
    // A parameter that is too long is still text here, and has its own issue.
    const combined = { measures, dimensions, filters, sort };
    if (Object.values<unknown>(combined).some((value) => typeof value === "string")) return;
    checkMetricCombination(combined, (path, message) => addIssue(context, "conflict", message, { path: [path] }));
  });

export type MetricsQuery = z.output<typeof MetricsQuery>;

type CombinedFields = Pick<z.output<typeof MetricsQuery>, "measures" | "dimensions" | "filters" | "sort">;

/** Reports what cannot be combined in a query, with how to correct it. */
function checkMetricCombination(
  { measures, dimensions, filters, sort }: CombinedFields,
  report: (path: keyof CombinedFields, message: string) => void,
): void {
  const filtered = (Object.keys(filters) as MetricDimension[]).filter((name) => !dimensions.includes(name));
  const used = [
    ...dimensions.map((name) => ({ name, path: "dimensions" as const })),
    ...filtered.map((name) => ({ name, path: "filters" as const })),
  ];
  for (const [index, { name, path }] of used.entries()) {
    const other = used.slice(0, index).find((earlier) => !canCombineMetricDimensions(earlier.name, name));
    if (other)
      report(
        path,
        `${name} cannot be combined with ${other.name}. Remove one of them. ${name} can be combined with: ${listCombinableDimensions(name).join(", ")}`,
      );
    for (const measure of measures)
      if (!canMeasureByDimension(measure, name))
        report(
          path,
          `${measure} cannot be combined with ${name}. Remove one of them. ${name} can be combined with the measures ${listMeasuresOfDimension(name).join(", ")}. ${measure} can be combined with the dimensions ${listDimensionsOfMeasure(measure).join(", ")}`,
        );
  }
  const sortable: string[] = [...measures, ...dimensions];
  for (const { name } of sort)
    if (!sortable.includes(name))
      report(
        "sort",
        `${name} is not part of this query. Add it to ${name in metricMeasures ? "measures" : "dimensions"}, or sort by some of: ${sortable.join(", ")}`,
      );
}
