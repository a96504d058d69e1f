import { formatDecimalAmount } from "@pragma/contracts/currency";
import type { MetricDimension, MetricMeasure } from "@pragma/contracts/metric-definitions";
import { canMeasureByDimension } from "@pragma/contracts/metric-definitions";
import type { MetricRow, Metrics, MetricValues } from "@pragma/contracts/metrics";
import { z } from "zod";
import { Answer } from "../answer.ts";
import { defineTool, type ToolContext } from "../define-tool.ts";
import { describeAmountUnit, formatAmount } from "../format-amount.ts";
import { formatShare } from "../format-text.ts";
import { findLocationAndPeriod, locationArgument } from "../location.ts";
import { describePeriod, findPeriodIssue, periodArguments } from "../period.ts";
import {
  addNotesOnMetrics,
  createRestDescription,
  describeDimensionValue,
  getMetrics,
  maxMetricRows,
  splitByCurrency,
} from "../request-metrics.ts";

const groups = [
  "day",
  "weekday",
  "hour",
  "room",
  "clerk",
  "device",
  "product",
  "category",
] as const satisfies MetricDimension[];
const amounts = ["discounts", "cancellations", "losses", "refunds"] as const satisfies MetricMeasure[];
const counts = ["discountCount", "canceledQuantity"] as const satisfies MetricMeasure[];

export const cancellationsAndDiscountsTool = defineTool({
  name: "cancellations_and_discounts",
  title: "Cancellations and discounts",
  description:
    "Discounts by name, cancellations by reason, losses and refunds; with groupBy, who or what has the most.",
  scopes: ["reports:read"],
  arguments: {
    ...periodArguments,
    groupBy: z.enum(groups).optional(),
    limit: z.int().min(1).max(50).default(10),
    ...locationArgument,
  },
  example: { period: "last_30_days", groupBy: "clerk" },
  findIssue: findPeriodIssue,
  async answer({ groupBy, limit, ...args }, context) {
    const { location, period, nextArgs } = await findLocationAndPeriod(context, args);
    const request = { location, period, limit: maxMetricRows };
    const totalMeasures = ["sales", ...amounts, ...counts] as const;
    const totals = await getMetrics(context, { ...request, measures: totalMeasures });
    const answer = new Answer().add(`Cancellations and discounts, ${describePeriod(period, location)}`);
    for (const { currency, totals: total } of splitByCurrency(totals)) addTotals(answer, total.values, currency);
    const tables = groupBy
      ? [await getGroup(context, request, groupBy)]
      : await Promise.all([
          getMetrics(context, { ...request, measures: ["discounts", "discountCount"], dimensions: ["discount"] }),
          getMetrics(context, {
            ...request,
            measures: ["cancellations", "canceledQuantity"],
            dimensions: ["cancellationReason"],
          }),
        ]);
    for (const table of tables) addTable(answer, table, limit);
    addNotesOnMetrics(answer, totals, period);
    if (groupBy !== "clerk")
      answer.addNext("cancellations_and_discounts", { ...nextArgs, groupBy: "clerk" }, "see them by clerk");
    return answer.addNext("find_orders", { ...nextArgs, status: "discounted" }, "see orders with discounts").toString();
  },
});

function getGroup(
  context: ToolContext,
  request: Omit<Parameters<typeof getMetrics>[1], "measures">,
  groupBy: MetricDimension,
): Promise<Metrics> {
  const measures = [...amounts, ...counts].filter((measure) => canMeasureByDimension(measure, groupBy));
  return getMetrics(context, { ...request, measures, dimensions: [groupBy] });
}

function addTotals(answer: Answer, values: MetricValues, currency: string | null): void {
  const { sales = 0, discounts, discountCount, cancellations, canceledQuantity, losses, refunds } = values;
  const share = (amount: number | null | undefined) => formatShare(amount ?? 0, sales ?? 0);
  answer.add(
    `Sales incl. tax: ${formatAmount(sales, currency)}`,
    `Discounts: ${formatAmount(discounts, currency)} (${share(discounts)} of sales), used ${discountCount} times`,
    `Cancellations: ${formatAmount(cancellations, currency)} (${share(cancellations)} of sales), ${canceledQuantity} units`,
    `Losses: ${formatAmount(losses, currency)}, refunds: ${formatAmount(refunds, currency)}`,
  );
}

function addTable(answer: Answer, metrics: Metrics, limit: number): void {
  const { measures, dimensions } = metrics;
  const [dimension = "day"] = dimensions;
  const rankedBy = measures.filter((measure) => (amounts as readonly MetricMeasure[]).includes(measure));
  const sumOf = (values: MetricValues) => rankedBy.reduce((sum, measure) => sum + (values[measure] ?? 0), 0);
  for (const { currency, totals, rows, omittedRowCount } of splitByCurrency(metrics)) {
    const isAmount = (measure: MetricMeasure) => rankedBy.includes(measure);
    const format = (values: MetricValues, measure: MetricMeasure) =>
      isAmount(measure) ? formatDecimalAmount(values[measure] ?? 0, currency) : String(values[measure] ?? 0);
    const ranked = rows
      .filter(({ values }) => measures.some((measure) => (values[measure] ?? 0) !== 0))
      .sort((one: MetricRow, other: MetricRow) => sumOf(other.values) - sumOf(one.values));
    answer.addTable({
      columns: [
        dimension,
        ...measures.map((measure) => (isAmount(measure) ? `${measure} (${describeAmountUnit(currency)})` : measure)),
      ],
      rows: ranked
        .slice(0, limit)
        .map(({ dimensions: values, values: figures }) => [
          describeDimensionValue(dimension, values),
          ...measures.map((measure) => format(figures, measure)),
        ]),
      describeRest: createRestDescription({
        rows: ranked,
        omittedRowCount,
        total: sumOf(totals.values),
        getValue: (row) => sumOf(row.values),
        describeSum: (sum) => `${rankedBy.join(" + ")} ${formatAmount(sum, currency)}`,
      }),
    });
  }
}
