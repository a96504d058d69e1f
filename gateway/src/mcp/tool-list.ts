import type { Tool } from "./define-tool.ts";
import { cancellationsAndDiscountsTool } from "./tools/cancellations-and-discounts.ts";
import { comparePeriodsTool } from "./tools/compare-periods.ts";
import { dayStatusTool } from "./tools/day-status.ts";
import { explainReportTool } from "./tools/explain-report.ts";
import { findOrdersTool } from "./tools/find-orders.ts";
import { getOrderTool } from "./tools/get-order.ts";
import { paymentsBreakdownTool } from "./tools/payments-breakdown.ts";
import { salesSummaryTool } from "./tools/sales-summary.ts";
import { searchDocsTool } from "./tools/search-docs.ts";
import { topItemsTool } from "./tools/top-items.ts";

/** All tools of the MCP server. At most ten, because an assistant reads all their definitions. */
export const tools: readonly Tool[] = [
  salesSummaryTool,
  comparePeriodsTool,
  topItemsTool,
  paymentsBreakdownTool,
  cancellationsAndDiscountsTool,
  dayStatusTool,
  findOrdersTool,
  getOrderTool,
  explainReportTool,
  searchDocsTool,
];
