import type { MetricDimension, MetricMeasure } from "@pragma/contracts/metric-definitions";
import { z } from "zod";
import { Answer, formatShare } from "../answer.ts";
import { formatAmount, formatDecimalAmount } from "../format-amount.ts";
import {
  describeOpenShifts,
  describePeriod,
  findLocationAndPeriod,
  locationArgument,
  periodArgumentsOf,
} from "../location.ts";
import {
  describeDimensionValue,
  describeMissingReports,
  describeOmittedRows,
  filterMeasures,
  filtersArgument,
  getMetrics,
  splitByCurrency,
} from "../metrics.ts";
import { findPeriodIssue, periodArguments } from "../period.ts";
import { defineTool } from "../tool.ts";

const timeDimensions: readonly MetricDimension[] = ["day", "week", "month", "weekday", "hour"];
const groups = [
  ...["day", "week", "month", "weekday", "hour"],
  ...["room", "serviceType", "channel", "clerk", "device", "taxRate"],
] as const satisfies MetricDimension[];

const allMeasures = [
  ...["sales", "salesWithoutTax", "tax", "orders", "guests", "averageOrder", "averageGuest", "quantity"],
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
    const { location, period } = await findLocationAndPeriod(context, args);
    const measures = filterMeasures(allMeasures, { groupBy, filters });
    const hasOrders = measures.includes("orders");
    const metrics = await getMetrics(context, {
      ...{ location, period, measures, filters, limit },
      ...(groupBy && { dimensions: [groupBy], sort: timeDimensions.includes(groupBy) ? groupBy : "-sales" }),
    });
    const answer = new Answer().add(`Sales, ${describePeriod(period, location)}`);
    for (const { currency, totals, rows, omittedRowCount } of splitByCurrency(metrics)) {
      const { values } = totals;
      answer.add(
        `Sales incl. tax: ${formatAmount(values.sales, currency)}`,
        `Sales excl. tax: ${formatAmount(values.salesWithoutTax, currency)}, tax ${formatAmount(values.tax, currency)}`,
        !hasOrders
          ? `Units sold: ${values.quantity}`
          : `Orders: ${values.orders} (average ${formatAmount(values.averageOrder, currency)}), guests: ${values.guests} (average ${formatAmount(values.averageGuest, currency)})`,
      );
      if (totals.unattributed && totals.unattributed.sales !== 0)
        answer.add(`Not explained by product rows: ${formatAmount(totals.unattributed.sales, currency)}`);
      if (!groupBy) continue;
      const total = values.sales ?? 0;
      answer.addTable({
        columns: [groupBy, `sales (${currency ?? "unknown currency"})`, "share", hasOrders ? "orders" : "tax"],
        rows: rows.map((row) => [
          describeDimensionValue(groupBy, row.dimensions),
          formatDecimalAmount(row.values.sales ?? 0, currency),
          formatShare(row.values.sales ?? 0, total),
          hasOrders ? String(row.values.orders) : formatDecimalAmount(row.values.tax ?? 0, currency),
        ]),
        describeRest: (shownCount) => {
          const shown = rows.slice(0, shownCount).reduce((sum, row) => sum + (row.values.sales ?? 0), 0);
          const count = (omittedRowCount ?? 0) + rows.length - shownCount;
          return describeOmittedRows(count, `sales ${formatAmount(total - shown, currency)}`);
        },
      });
    }
    if (metrics.totals.length === 0) answer.add("There are no figures for this period.");
    answer.add(describeMissingReports(metrics), describeOpenShifts(period));
    const next = { ...periodArgumentsOf(period), ...location.args };
    answer.addNext("compare_periods", { ...next, ...(filters && { filters }) }, "compare with the period before");
    if (!groupBy && !filters) answer.addNext("top_items", next, "see which products sold best");
    if (metrics.totals.length === 0) answer.addNext("day_status", next, "see which days have reports");
    return answer.toString();
  },
});
