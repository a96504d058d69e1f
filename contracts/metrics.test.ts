import { expect, test } from "vitest";
import { z } from "zod";
import { appendReceivedValue } from "./errors.ts";
import {
  canCombineMetricDimensions,
  canMeasureByDimension,
  metricDimensionGroupNames,
  metricDimensionGroups,
  metricDimensionNames,
  metricMeasureNames,
} from "./metric-definitions.ts";
import { Metrics } from "./metrics.ts";
import { buildMetricsMeta, MetricsMeta } from "./metrics-meta.ts";
import { MetricsQuery } from "./metrics-query.ts";

const base = { measures: "sales", since: "2026-05-01", until: "2026-05-31" };
const parse = (fields: Record<string, string> = {}) => MetricsQuery.safeParse({ ...base, ...fields });
const listIssues = (fields: Record<string, string>) =>
  (parse(fields).error?.issues ?? []).map((issue) => {
    const received = issue.code === "custom" ? issue.params?.received : undefined;
    const message = received === undefined ? issue.message : appendReceivedValue(issue.message, received);
    return `${issue.path.join(".")}: ${message}`;
  });

test("the example of a response and the description of measures and dimensions are valid", () => {
  expect(z.strictObject(Metrics.shape).safeParse(Metrics.meta()?.example).error?.issues ?? []).toEqual([]);
  const meta = MetricsMeta.parse(buildMetricsMeta());
  expect(meta.measures.map(({ name }) => name)).toEqual(metricMeasureNames);
  expect(meta.dimensions.map(({ name }) => name)).toEqual(metricDimensionNames);
  const fieldNames = meta.dimensions.flatMap(({ name, fields }) => fields.map((field) => `${name}.${field.name}`));
  expect(fieldNames).toContain("paymentMethod.mode");
});

test("groups of dimensions can be combined in both directions", () => {
  for (const group of metricDimensionGroupNames) {
    const others: readonly string[] = metricDimensionGroups[group];
    for (const other of metricDimensionGroupNames) {
      const back: readonly string[] = metricDimensionGroups[other];
      expect(back.includes(group), `${group} and ${other}`).toBe(others.includes(other));
    }
  }
});

test("every measure can be combined with an order dimension, and every dimension with a measure", () => {
  for (const measure of metricMeasureNames) expect(canMeasureByDimension(measure, "room")).toBe(true);
  for (const dimension of metricDimensionNames)
    expect(metricMeasureNames.some((measure) => canMeasureByDimension(measure, dimension))).toBe(true);
  expect(canMeasureByDimension("orders", "product")).toBe(false);
  expect(canCombineMetricDimensions("product", "clerk")).toBe(false);
  expect(canCombineMetricDimensions("product", "hour")).toBe(true);
  expect(canCombineMetricDimensions("taxRate", "serviceType")).toBe(true);
  expect(canCombineMetricDimensions("paymentMethod", "clerk")).toBe(true);
  expect(canCombineMetricDimensions("paymentMethod", "discount")).toBe(false);
});

test("a query is parsed with its defaults", () => {
  expect(parse().data).toEqual({
    ...{ measures: ["sales"], dimensions: [], since: base.since, until: base.until },
    ...{ filters: {}, sort: [], limit: 100 },
  });
  const fields = {
    ...{ measures: "payments, tips", dimensions: "day,paymentMethod", sort: "-tips,day", limit: "1000" },
    ...{ compare: "previous_year", filters: '{"hour": [12, 13], "paymentMethod": ["card"]}' },
  };
  expect(parse(fields).data).toMatchObject({
    ...{ measures: ["payments", "tips"], dimensions: ["day", "paymentMethod"], compare: "previous_year", limit: 1000 },
    filters: { hour: ["12", "13"], paymentMethod: ["card"] },
    sort: [
      { name: "tips", isDescending: true },
      { name: "day", isDescending: false },
    ],
  });
});

test.each([
  [{ measures: "" }, "measures: Must have at least one measure. Use some of: sales, salesWithoutTax"],
  [{ measures: "sales,turnover" }, /^measures: Must be some of the measures: sales, .*; got "turnover"$/],
  [{ measures: "sales,sales" }, "measures: Contains sales twice"],
  [{ dimensions: "day,table" }, /^dimensions: Must be some of the dimensions: day, week, .*; got "table"$/],
  [{ dimensions: "day,week,month,hour,room" }, "dimensions: Must have at most 4 dimensions; got 5"],
  [
    { dimensions: "product,clerk" },
    "dimensions: clerk cannot be combined with product. Remove one of them. clerk can be",
  ],
  [
    { measures: "orders", dimensions: "product" },
    "dimensions: orders cannot be combined with product. Remove one of them. product can be combined with the measures sales, ",
  ],
  [
    { dimensions: "product", filters: '{"room": ["Bar"]}' },
    "filters: room cannot be combined with product. Remove one of them",
  ],
  [{ filters: "{room}" }, "filters: Must be a JSON object"],
  [{ filters: '{"room": "Bar"}' }, 'without NUL characters or unpaired surrogates; got invalid values of "room"'],
  [{ filters: '{"room": ["\\u0000"]}' }, "without NUL characters"],
  [{ filters: '{"table": ["1"]}' }, /^filters: Must filter by some of the dimensions: day, .*; got "table"$/],
  [{ filters: '{"hour": [24]}' }, 'filters: The values of `hour` must be hours from 0 to 23; got "24"'],
  [{ filters: '{"room": []}' }, "filters: `room` must have at least 1 value"],
  [{ filters: JSON.stringify({ room: Array(51).fill("x") }) }, "filters: `room` must have at most 50 values"],
  [{ sort: "-orders" }, "sort: orders is not part of this query. Add it to measures, or sort by some of: sales"],
  [{ sort: "table" }, 'sort: Must be measures and dimensions of the query; got "table"'],
  [{ limit: "1001" }, "limit: "],
  [{ since: "2026-06-01" }, "since: Must not be after until"],
  [
    { since: "2024-05-30" },
    "until: Must be at most 731 days from since to until. Send several requests instead; got 732",
  ],
  [{ since: "1899-12-31", until: "1900-01-01" }, "since: Must not be before 1900-01-01"],
  [{ compare: "last_week" }, "compare: Must be one of: previous_period, previous_week, previous_year"],
  [{ locationIds: "7" }, 'locationIds: Must be UUIDs, separated by commas; got "7"'],
  [
    { locationId: crypto.randomUUID(), locationIds: crypto.randomUUID() },
    "locationIds: Must not be used together with locationId",
  ],
  [
    { locationIds: Array.from({ length: 101 }, () => crypto.randomUUID()).join() },
    "locationIds: Must have at most 100 locations; got 101",
  ],
])("the query %o is rejected, with what to correct", (fields: Record<string, string>, message: string | RegExp) => {
  const issues = listIssues(fields);
  expect(issues.some((issue) => (typeof message === "string" ? issue.includes(message) : message.test(issue)))).toBe(
    true,
  );
});

test.each(["measures", "dimensions", "filters", "sort"])("a value of %s that is too long is an issue", (name) => {
  expect(listIssues({ [name]: "x".repeat(30_000) })).toEqual([expect.stringContaining(`${name}: Too big`)]);
});

test("a filter by the name __proto__ is not ignored", () => {
  expect(listIssues({ filters: '{"__proto__":["a"]}' })).toEqual([expect.stringContaining("filters: Must be a JSON")]);
});
