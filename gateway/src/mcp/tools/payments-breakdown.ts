import { formatDecimalAmount } from "@pragma/contracts/currency";
import { countDays } from "@pragma/contracts/date-time";
import type { MetricDimension } from "@pragma/contracts/metric-definitions";
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
  filtersArgument,
  getMetrics,
  splitByCurrency,
} from "../request-metrics.ts";

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
    const { location, period, nextArgs } = await findLocationAndPeriod(context, args);
    const dimensions: MetricDimension[] = [...(groupBy ? [groupBy] : []), "paymentMethod"];
    const metrics = await getMetrics(context, {
      location,
      period,
      measures: ["payments", "paymentCount", "tips"],
      dimensions,
      filters,
      limit,
      sort: groupBy ? `${groupBy},-payments` : "-payments",
    });
    const answer = new Answer().add(`Payments, ${describePeriod(period, location)}`);
    for (const figures of splitByCurrency(metrics)) addPayments(answer, figures, groupBy);
    answer.add("Payments include those of canceled orders and on customer accounts, so they can differ from sales.");
    addNotesOnMetrics(answer, metrics, period);
    if (countDays(period) <= maxDayStatusDays)
      answer.addNext("day_status", nextArgs, "check payments against what the points of sale declared");
    else answer.addNext("sales_summary", { ...nextArgs, groupBy: "month" }, "see sales by month");
    return answer.toString();
  },
});

function addPayments(answer: Answer, figures: CurrencyMetrics, groupBy: MetricDimension | undefined): void {
  const { currency, totals, rows, omittedRowCount } = figures;
  const { paymentCount, tips } = totals.values;
  const total = totals.values.payments ?? 0;
  answer.add(
    `Total: ${formatAmount(total, currency)} in ${paymentCount} payments, tips ${formatAmount(tips, currency)} in addition`,
  );
  answer.addTable({
    columns: [
      ...(groupBy ? [groupBy] : []),
      "method (mode)",
      `payments (${describeAmountUnit(currency)})`,
      "share",
      "count",
      "tips",
    ],
    rows: rows.map(({ dimensions, values }) => [
      ...(groupBy ? [describeDimensionValue(groupBy, dimensions)] : []),
      describeDimensionValue("paymentMethod", dimensions),
      formatDecimalAmount(values.payments ?? 0, currency),
      formatShare(values.payments ?? 0, total),
      String(values.paymentCount),
      formatDecimalAmount(values.tips ?? 0, currency),
    ]),
    describeRest: createRestDescription({
      rows,
      omittedRowCount,
      total,
      getValue: (row) => row.values.payments ?? 0,
      describeSum: (sum) => `payments ${formatAmount(sum, currency)}`,
    }),
  });
}
