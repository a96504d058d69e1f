import {
  canMeasureByDimension,
  type MetricDimension,
  type MetricMeasure,
  metricDimensionNameSchema,
  metricDimensionNames,
  metricMeasureNameSchema,
  metricMeasureNames,
} from "@pragma/contracts/metric-definitions";
import { z } from "zod";
import { defineTool } from "../define-tool.ts";
import { type FiguresQuery, figureArguments, figuresOutput, readFigures } from "../figures.ts";
import { findPeriodIssue, selectionArguments, selectPeriod } from "../period.ts";

/** The measures that groups have if they go with sales: eight, so that a row is not too long. */
const salesMeasures = metricMeasureNames.slice(0, metricMeasureNames.indexOf("discounts"));

export const salesTool = defineTool({
  name: "sales",
  title: "Sales and comparison",
  description:
    "Sales, tax, orders, guests, averages, discounts, cancellations, payments and tips of a period, by groups, or compared with an earlier period. Payments: groupBy paymentMethod. Discounts: groupBy discount. Cancellations: groupBy cancellationReason.",
  arguments: {
    ...selectionArguments,
    groupBy: metricDimensionNameSchema.optional(),
    thenBy: metricDimensionNameSchema.optional().describe("Second group"),
    measures: z
      .array(metricMeasureNameSchema)
      .min(1)
      .max(10)
      .optional()
      .describe("Default: those that go with the groups and filters. The first ranks the rows"),
    ...figureArguments,
    limit: z.int().min(1).max(50).default(31),
  },
  example: { period: "last_month", groupBy: "weekday" },
  output: figuresOutput,
  findIssue: ({ groupBy, thenBy, ...args }) =>
    thenBy !== undefined && (groupBy === undefined || thenBy === groupBy)
      ? "thenBy: requires another groupBy"
      : findPeriodIssue(args),
  async answer({ groupBy, thenBy, measures, compareWith, filters, limit, ...args }, context) {
    const selection = await selectPeriod(context, args);
    const dimensions = [...(groupBy ? [groupBy] : []), ...(thenBy ? [thenBy] : [])];
    const chosen = measures
      ? ([...new Set(measures)] as [MetricMeasure, ...MetricMeasure[]])
      : chooseMeasures(dimensions, filters);
    const query = { measures: chosen, dimensions, compareWith, filters, limit };
    const { notes, ...fields } = await readFigures(context, selection, query);
    return {
      ...fields,
      notes: [
        ...notes,
        chosen.includes("payments")
          ? "Payments include those of canceled orders and on customer accounts, so they can differ from sales. Tips are in addition."
          : undefined,
      ],
    };
  },
});

/**
 * Returns the measures that go with all groups and filters: all of them for a total, and those of sales for groups. Returns the
 * first measure if none does, so that the API explains what cannot be combined.
 */
function chooseMeasures(
  dimensions: MetricDimension[],
  filters: FiguresQuery["filters"] = {},
): FiguresQuery["measures"] {
  const names = [...dimensions, ...metricDimensionNames.filter((name) => name in filters)];
  const possible = metricMeasureNames.filter((measure) => names.every((name) => canMeasureByDimension(measure, name)));
  const ofSales = dimensions.length > 0 ? possible.filter((measure) => salesMeasures.includes(measure)) : [];
  const [first = metricMeasureNames[0], ...others] = ofSales.length > 0 ? ofSales : possible;
  return [first, ...others];
}
