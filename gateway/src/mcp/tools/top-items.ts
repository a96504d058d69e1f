import { formatDecimalAmount } from "@pragma/contracts/currency";
import type { MetricDimension, MetricMeasure } from "@pragma/contracts/metric-definitions";
import { getMetricMeasure } from "@pragma/contracts/metric-definitions";
import { z } from "zod";
import { Answer } from "../answer.ts";
import { defineTool } from "../define-tool.ts";
import { describeAmountUnit, formatAmount } from "../format-amount.ts";
import { formatShare } from "../format-text.ts";
import { findLocationAndPeriod, locationArgument } from "../location.ts";
import { describePeriod, findPeriodIssue, periodArguments } from "../period.ts";
import {
  addNotesOnMetrics,
  type CurrencyMetrics,
  createRestDescription,
  describeDimensionValue,
  filtersArgument,
  getMetrics,
  splitByCurrency,
} from "../request-metrics.ts";

const rankings = [
  "sales",
  "quantity",
  "discounts",
  "cancellations",
  "canceledQuantity",
  "losses",
  "refunds",
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
    const { location, period, nextArgs } = await findLocationAndPeriod(context, args);
    const measures: MetricMeasure[] = [...new Set<MetricMeasure>([rankBy, "sales", "quantity"])];
    const sort = `${order === "top" ? "-" : ""}${rankBy}`;
    const metrics = await getMetrics(context, { location, period, measures, dimensions: [by], filters, sort, limit });
    const answer = new Answer().add(
      `${order === "top" ? "Top" : "Bottom"} ${by} by ${rankBy}, ${describePeriod(period, location)}`,
    );
    for (const figures of splitByCurrency(metrics)) addRanking(answer, figures, { by, rankBy, measures });
    addNotesOnMetrics(answer, metrics, period);
    if (by !== "category")
      answer.addNext("top_items", { ...nextArgs, by: "category", ...(filters && { filters }) }, "see categories");
    return answer
      .addNext(
        "compare_periods",
        { ...nextArgs, groupBy: by, ...(filters && { filters }) },
        "see which of them sold more or less than before",
      )
      .toString();
  },
});

interface RankingOptions {
  by: MetricDimension;
  rankBy: MetricMeasure;
  measures: readonly MetricMeasure[];
}

function addRanking(answer: Answer, figures: CurrencyMetrics, { by, rankBy, measures }: RankingOptions): void {
  const { currency, totals, rows, omittedRowCount } = figures;
  const isCount = (measure: MetricMeasure) => getMetricMeasure(measure).unit === "count";
  const format = (measure: MetricMeasure, value: number | null | undefined) =>
    isCount(measure) ? String(value ?? 0) : formatDecimalAmount(value ?? 0, currency);
  const label = (measure: MetricMeasure) =>
    isCount(measure) ? measure : `${measure} (${describeAmountUnit(currency)})`;
  const total = totals.values[rankBy] ?? 0;
  answer.addTable({
    columns: ["#", by, ...measures.map(label), `share of ${rankBy}`],
    rows: rows.map((row, index) => [
      String(index + 1),
      describeDimensionValue(by, row.dimensions),
      ...measures.map((measure) => format(measure, row.values[measure])),
      formatShare(row.values[rankBy] ?? 0, total),
    ]),
    describeRest: createRestDescription({
      rows,
      omittedRowCount,
      total,
      getValue: (row) => row.values[rankBy] ?? 0,
      describeSum: (sum) => `${rankBy} ${format(rankBy, sum)}`,
    }),
  });
  answer.add(
    `Total of all rows: ${measures.map((measure) => `${label(measure)} ${format(measure, totals.values[measure])}`).join(", ")}`,
  );
  const unattributed = totals.unattributed?.sales ?? 0;
  if (unattributed !== 0)
    answer.add(`Sales that no product row explains, in addition: ${formatAmount(unattributed, currency)}`);
}
