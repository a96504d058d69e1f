import { formatDecimalAmount } from "@pragma/contracts/currency";
import { countDays } from "@pragma/contracts/date-time";
import type { MetricDimension, MetricMeasure } from "@pragma/contracts/metric-definitions";
import { z } from "zod";
import { Answer } from "../answer.ts";
import { defineTool } from "../define-tool.ts";
import { describeAmountUnit, formatAmount } from "../format-amount.ts";
import { formatShare } from "../format-text.ts";
import { findLocationAndPeriod, locationArgument } from "../location.ts";
import { describePeriod, findPeriodIssue, maxDayStatusDays, periodArguments } from "../period.ts";
import {
  addNotesOnMetrics,
  type CurrencyMetrics,
  createRestDescription,
  describeDimensionValue,
  filterMeasures,
  filtersArgument,
  getMetrics,
  hasFigures,
  splitByCurrency,
} from "../request-metrics.ts";

const timeDimensions: readonly MetricDimension[] = ["day", "week", "month", "weekday", "hour"];
const groups = [
  "day",
  "week",
  "month",
  "weekday",
  "hour",
  "room",
  "serviceType",
  "channel",
  "clerk",
  "device",
  "taxRate",
] as const satisfies MetricDimension[];

const allMeasures = [
  "sales",
  "salesWithoutTax",
  "tax",
  "orders",
  "guests",
  "averageOrder",
  "averageGuest",
  "quantity",
] as const satisfies MetricMeasure[];

export const salesSummaryTool = defineTool({
  name: "sales_summary",
  title: "Sales summary",
  description: "Sales with and without tax, orders, guests and averages of a period, optionally by a group.",
  scopes: ["reports:read"],
  arguments: {
    ...periodArguments,
    groupBy: z.enum(groups).optional(),
    ...filtersArgument,
    limit: z.int().min(1).max(50).default(31),
    ...locationArgument,
  },
  example: { period: "last_month", groupBy: "weekday" },
  findIssue: findPeriodIssue,
  async answer({ groupBy, filters, limit, ...args }, context) {
    const { location, period, nextArgs } = await findLocationAndPeriod(context, args);
    const measures = filterMeasures(allMeasures, { groupBy, filters });
    const hasOrders = measures.includes("orders");
    const metrics = await getMetrics(context, {
      location,
      period,
      measures,
      filters,
      limit,
      ...(groupBy && { dimensions: [groupBy], sort: timeDimensions.includes(groupBy) ? groupBy : "-sales" }),
    });
    const answer = new Answer().add(`Sales, ${describePeriod(period, location)}`);
    for (const figures of splitByCurrency(metrics)) {
      addTotals(answer, figures, hasOrders);
      if (groupBy) addGroups(answer, figures, groupBy, hasOrders);
    }
    addNotesOnMetrics(answer, metrics, period);
    answer.addNext("compare_periods", { ...nextArgs, ...(filters && { filters }) }, "compare with the period before");
    if (!groupBy && !filters) answer.addNext("top_items", nextArgs, "see which products sold best");
    if (!hasFigures(metrics) && countDays(period) <= maxDayStatusDays)
      answer.addNext("day_status", nextArgs, "see which days have reports");
    return answer.toString();
  },
});

/** Adds the totals. Products have no orders, so that their units are shown instead. */
function addTotals(answer: Answer, { currency, totals }: CurrencyMetrics, hasOrders: boolean): void {
  const { values, unattributed } = totals;
  answer.add(
    `Sales incl. tax: ${formatAmount(values.sales, currency)}`,
    `Sales excl. tax: ${formatAmount(values.salesWithoutTax, currency)}, tax ${formatAmount(values.tax, currency)}`,
    hasOrders
      ? `Orders: ${values.orders} (average ${formatAmount(values.averageOrder, currency)}), guests: ${values.guests} (average ${formatAmount(values.averageGuest, currency)})`
      : `Units sold: ${values.quantity}`,
  );
  if (unattributed && unattributed.sales !== 0)
    answer.add(`Not explained by product rows: ${formatAmount(unattributed.sales, currency)}`);
}

function addGroups(answer: Answer, figures: CurrencyMetrics, groupBy: MetricDimension, hasOrders: boolean): void {
  const { currency, totals, rows, omittedRowCount } = figures;
  const total = totals.values.sales ?? 0;
  answer.addTable({
    columns: [groupBy, `sales (${describeAmountUnit(currency)})`, "share", hasOrders ? "orders" : "tax"],
    rows: rows.map((row) => [
      describeDimensionValue(groupBy, row.dimensions),
      formatDecimalAmount(row.values.sales ?? 0, currency),
      formatShare(row.values.sales ?? 0, total),
      hasOrders ? String(row.values.orders) : formatDecimalAmount(row.values.tax ?? 0, currency),
    ]),
    describeRest: createRestDescription({
      rows,
      omittedRowCount,
      total,
      getValue: (row) => row.values.sales ?? 0,
      describeSum: (sum) => `sales ${formatAmount(sum, currency)}`,
    }),
  });
}
