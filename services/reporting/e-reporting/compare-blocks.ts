import type { EReportDifference } from "@pragma/contracts/e-report";
import { groupByKey, sum } from "../calculation/groups.ts";
import type { EReportBlocks } from "./e-report.ts";

/** Returns by how much the later blocks differ, by day, category and VAT rate. Empty if all their figures are equal. */
export function compareBlocks(earlier: EReportBlocks, later: EReportBlocks): EReportDifference[] {
  const negated = toRows(earlier).map((row) => ({
    ...row,
    taxableAmount: -row.taxableAmount,
    taxTotal: -row.taxTotal,
  }));
  return groupByKey([...negated, ...toRows(later)], ({ day, category, taxRate }) => [day, category, taxRate])
    .map((group) => ({
      ...group[0],
      taxableAmount: sum(group.map(({ taxableAmount }) => taxableAmount)),
      taxTotal: sum(group.map(({ taxTotal }) => taxTotal)),
    }))
    .filter(({ taxableAmount, taxTotal }) => taxableAmount !== 0 || taxTotal !== 0)
    .sort(
      (one, other) =>
        compareTexts(one.day, other.day) ||
        compareTexts(one.category ?? "", other.category ?? "") ||
        one.taxRate - other.taxRate,
    );
}

/** Returns whether the blocks are equal, with the numbers of their orders, which have no difference of amounts. */
export const areBlocksEqual = (one: EReportBlocks, other: EReportBlocks): boolean =>
  JSON.stringify(sortKeys(one)) === JSON.stringify(sortKeys(other));

function toRows(blocks: EReportBlocks): EReportDifference[] {
  if ("transactions" in blocks)
    return blocks.transactions.flatMap(({ day, category, taxSubtotals }) =>
      taxSubtotals.map((subtotal) => ({ day, category, ...subtotal })),
    );
  return blocks.payments.flatMap(({ day, subtotals }) =>
    subtotals.map(({ taxRate, amount }) => ({ day, category: null, taxRate, taxableAmount: amount, taxTotal: 0 })),
  );
}

const compareTexts = (one: string, other: string) => Number(one > other) - Number(one < other);

/** PostgreSQL keeps the sequence of the keys of `json`, but another version of this service could write another one. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const sorted = Object.entries(value).sort(([one], [other]) => compareTexts(one, other));
  return Object.fromEntries(sorted.map(([key, inner]) => [key, sortKeys(inner)]));
}
