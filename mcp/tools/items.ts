import type { MetricMeasure } from "@pragma/contracts/metric-definitions";
import { z } from "zod";
import { defineTool } from "../define-tool.ts";
import { figureArguments, figuresOutput, readFigures } from "../figures.ts";
import { findPeriodIssue, selectionArguments, selectPeriod } from "../period.ts";

const rankings = ["sales", "quantity", "discounts", "cancellations", "canceledQuantity", "losses", "refunds"] as const;

export const itemsTool = defineTool({
  name: "items",
  title: "Items",
  description:
    "Products or categories with the most or fewest sales, units, discounts, cancellations, losses or refunds, or the largest changes.",
  arguments: {
    ...selectionArguments,
    by: z.enum(["product", "category", "subcategory"]).default("product"),
    rankBy: z.enum(rankings).default("sales"),
    order: z.enum(["top", "bottom"]).default("top"),
    ...figureArguments,
    limit: z.int().min(1).max(50).default(10),
  },
  example: { period: "last_30_days", by: "product", rankBy: "quantity", limit: 5 },
  output: figuresOutput,
  findIssue: findPeriodIssue,
  async answer({ by, rankBy, order, compareWith, filters, limit, ...args }, context) {
    const selection = await selectPeriod(context, args);
    const [, ...others] = [...new Set<MetricMeasure>([rankBy, "sales", "quantity"])];
    return readFigures(context, selection, {
      measures: [rankBy, ...others],
      dimensions: [by],
      compareWith,
      filters,
      isAscending: order === "bottom",
      limit,
    });
  },
});
