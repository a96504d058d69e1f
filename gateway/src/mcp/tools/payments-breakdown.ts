import type { MetricDimension } from "@pragma/contracts/metric-definitions";
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
  filtersArgument,
  getMetrics,
  splitByCurrency,
} from "../metrics.ts";
import { findPeriodIssue, periodArguments } from "../period.ts";
import { defineTool } from "../tool.ts";

const groups = [
  "day",
  "week",
  "month",
  "weekday",
  "hour",
  "room",
  "clerk",
  "device",
] as const satisfies MetricDimension[];

export const paymentsBreakdownTool = defineTool({
  name: "payments_breakdown",
  title: "Payments breakdown",
  description: "Payments and tips by payment method, optionally also by a group.",
  scopes: ["reports:read"],
  arguments: {
    ...periodArguments,
    groupBy: z.enum(groups).optional(),
    ...filtersArgument,
    limit: z.int().min(1).max(50).default(20),
    ...locationArgument,
  },
  example: { period: "yesterday" },
  findIssue: findPeriodIssue,
  async answer({ groupBy, filters, limit, ...args }, context) {
    const { location, period } = await findLocationAndPeriod(context, args);
    const dimensions: MetricDimension[] = [...(groupBy ? [groupBy] : []), "paymentMethod"];
    const metrics = await getMetrics(context, {
      ...{ location, period, dimensions, filters, limit },
      measures: ["payments", "paymentCount", "tips"],
      sort: groupBy ? `${groupBy},-payments` : "-payments",
    });
    const answer = new Answer().add(`Payments, ${describePeriod(period, location)}`);
    for (const { currency, totals, rows, omittedRowCount } of splitByCurrency(metrics)) {
      const { payments, paymentCount, tips } = totals.values;
      answer.add(
        `Total: ${formatAmount(payments, currency)} in ${paymentCount} payments, tips ${formatAmount(tips, currency)} in addition`,
      );
      answer.addTable({
        columns: [
          ...(groupBy ? [groupBy] : []),
          "method (mode)",
          `payments (${currency ?? "unknown currency"})`,
          "share",
          "count",
          "tips",
        ],
        rows: rows.map(({ dimensions: values, values: figures }) => [
          ...(groupBy ? [describeDimensionValue(groupBy, values)] : []),
          describeDimensionValue("paymentMethod", values),
          formatDecimalAmount(figures.payments ?? 0, currency),
          formatShare(figures.payments ?? 0, payments ?? 0),
          String(figures.paymentCount),
          formatDecimalAmount(figures.tips ?? 0, currency),
        ]),
        describeRest: (shownCount) => {
          const shown = rows.slice(0, shownCount).reduce((sum, row) => sum + (row.values.payments ?? 0), 0);
          const count = (omittedRowCount ?? 0) + rows.length - shownCount;
          return describeOmittedRows(count, `payments ${formatAmount((payments ?? 0) - shown, currency)}`);
        },
      });
    }
    if (metrics.totals.length === 0) answer.add("There are no payments in this period.");
    answer.add(
      "Payments include those of canceled orders and on customer accounts, so they can differ from sales.",
      describeMissingReports(metrics),
      describeOpenShifts(period),
    );
    const next = { ...periodArgumentsOf(period), ...location.args };
    return answer.addNext("day_status", next, "check payments against what the points of sale declared").toString();
  },
});
