import type { MetricMeasure } from "@pragma/contracts/metric-definitions";
import { getMetricMeasure } from "@pragma/contracts/metric-definitions";
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

const rankings = [
  ...["sales", "quantity", "discounts", "cancellations", "canceledQuantity", "losses", "refunds"],
] as const satisfies MetricMeasure[];

export const topItemsTool = defineTool({
  name: "top_items",
  title: "Top items",
  description:
    "Products or categories with the most or fewest sales, units, discounts, cancellations, losses or refunds.",
  scopes: ["reports:read"],
  arguments: {
    ...periodArguments,
    by: z.enum(["product", "category", "subcategory"]).default("product"),
    rankBy: z.enum(rankings).default("sales"),
    order: z.enum(["top", "bottom"]).default("top"),
    ...filtersArgument,
    limit: z.int().min(1).max(50).default(10),
    ...locationArgument,
  },
  example: { period: "last_30_days", by: "product", rankBy: "quantity", limit: 5 },
  findIssue: findPeriodIssue,
  async answer({ by, rankBy, order, filters, limit, ...args }, context) {
    const { location, period } = await findLocationAndPeriod(context, args);
    const measures: MetricMeasure[] = [...new Set<MetricMeasure>([rankBy, "sales", "quantity"])];
    const sort = `${order === "top" ? "-" : ""}${rankBy}`;
    const metrics = await getMetrics(context, { location, period, measures, dimensions: [by], filters, sort, limit });
    const answer = new Answer().add(
      `${order === "top" ? "Top" : "Bottom"} ${by} by ${rankBy}, ${describePeriod(period, location)}`,
    );
    for (const { currency, totals, rows, omittedRowCount } of splitByCurrency(metrics)) {
      const format = (measure: MetricMeasure, value: number | null | undefined) =>
        getMetricMeasure(measure).unit === "count" ? String(value ?? 0) : formatDecimalAmount(value ?? 0, currency);
      const total = totals.values[rankBy] ?? 0;
      const label = (measure: MetricMeasure) =>
        getMetricMeasure(measure).unit === "count" ? measure : `${measure} (${currency ?? "unknown currency"})`;
      answer.addTable({
        columns: ["#", by, ...measures.map(label), `share of ${rankBy}`],
        rows: rows.map((row, index) => [
          String(index + 1),
          describeDimensionValue(by, row.dimensions),
          ...measures.map((measure) => format(measure, row.values[measure])),
          formatShare(row.values[rankBy] ?? 0, total),
        ]),
        describeRest: (shownCount) => {
          const shown = rows.slice(0, shownCount).reduce((sum, row) => sum + (row.values[rankBy] ?? 0), 0);
          const count = (omittedRowCount ?? 0) + rows.length - shownCount;
          return describeOmittedRows(count, `${rankBy} ${format(rankBy, total - shown)}`);
        },
      });
      answer.add(
        `Total of all rows: ${measures.map((measure) => `${label(measure)} ${format(measure, totals.values[measure])}`).join(", ")}`,
      );
      const unattributed = totals.unattributed?.sales ?? 0;
      if (unattributed !== 0)
        answer.add(`Sales that no product row explains, in addition: ${formatAmount(unattributed, currency)}`);
    }
    if (metrics.totals.length === 0) answer.add("There are no figures for this period.");
    answer.add(describeMissingReports(metrics), describeOpenShifts(period));
    const next = { ...periodArgumentsOf(period), ...location.args };
    if (by !== "category")
      answer.addNext("top_items", { ...next, by: "category", ...(filters && { filters }) }, "see categories");
    return answer
      .addNext(
        "compare_periods",
        { ...next, groupBy: by, ...(filters && { filters }) },
        "see which of them sold more or less than before",
      )
      .toString();
  },
});
