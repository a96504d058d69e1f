import {
  type DeclarantSettings,
  type TransactionCategory,
  transactionCategories,
} from "@pragma/contracts/e-reporting-declarant";
import { groupByKey, sum } from "../calculation/groups.ts";
import type { CategoryFinder } from "./categories.ts";
import type { EReportFigures } from "./e-report-figures.ts";

/** The figures of one business day of a business, in one currency. Each day and currency has one. */
export interface DayFigures {
  /** YYYY-MM-DD. */
  day: string;
  currency: string;
  figures: EReportFigures;
}

/** Sales of a day in a category (10.3). Amounts are in minor units of the currency; rates in hundredths of a percent. */
export interface TransactionsBlock {
  day: string;
  currency: string;
  category: TransactionCategory;
  taxExclusiveAmount: number;
  taxTotal: number;
  transactionsCount: number;
  /** Whether VAT is due on debits, which concerns services. */
  isVatOnDebits: boolean;
  taxSubtotals: { taxRate: number; taxableAmount: number; taxTotal: number }[];
}

/** What was received on a day for services (10.4), VAT included. */
export interface PaymentsBlock {
  day: string;
  currency: string;
  subtotals: { taxRate: number; amount: number }[];
}

/** What a file of flux 10 contains: either transactions (10.3) or payments (10.4), never both (rule G6.29). */
export type EReportBlocks = { transactions: TransactionsBlock[] } | { payments: PaymentsBlock[] };

/** Whether the business has chosen that VAT on services is due on debits on a day, YYYY-MM-DD. */
export const isVatOnDebits = (
  day: string,
  { vatOnDebitsSince }: Pick<DeclarantSettings, "vatOnDebitsSince">,
): boolean => vatOnDebitsSince !== null && day >= vatOnDebitsSince;

/** What blocks are built with: the settings, and a pause in which other requests are handled. */
interface BlocksInput {
  settings: DeclarantSettings;
  findCategory: CategoryFinder;
  pause(): Promise<void>;
}

/** Returns a block for each day, currency and category with sales, in this sequence. */
export async function buildTransactionsBlocks(
  days: readonly DayFigures[],
  { settings, findCategory, pause }: BlocksInput,
): Promise<TransactionsBlock[]> {
  const blocks: TransactionsBlock[] = [];
  for (const dayFigures of sortDays(days)) {
    await pause();
    for (const category of transactionCategories)
      blocks.push(...buildCategoryBlock(dayFigures, category, { settings, findCategory }));
  }
  return blocks;
}

/** Returns the block of a day and category, unless nothing was sold in it. */
function buildCategoryBlock(
  { day, currency, figures: { sales, orders } }: DayFigures,
  category: TransactionCategory,
  { settings, findCategory }: Pick<BlocksInput, "settings" | "findCategory">,
): TransactionsBlock[] {
  const isInCategory = (kind: Parameters<CategoryFinder>[0]) => findCategory(kind) === category;
  const taxSubtotals = groupByKey(sales.filter(isInCategory), ({ taxRate }) => [taxRate])
    .map((rows) => ({
      taxRate: rows[0].taxRate,
      taxableAmount: sum(rows.map(({ taxable }) => taxable)),
      taxTotal: sum(rows.map(({ tax }) => tax)),
    }))
    .sort((one, other) => one.taxRate - other.taxRate);
  if (taxSubtotals.length === 0) return [];
  const counted = orders.filter(({ taxRates, ...kind }) =>
    taxRates.some((taxRate) => isInCategory({ ...kind, taxRate })),
  );
  return [
    {
      ...{ day, currency, category },
      taxExclusiveAmount: sum(taxSubtotals.map(({ taxableAmount }) => taxableAmount)),
      taxTotal: sum(taxSubtotals.map(({ taxTotal }) => taxTotal)),
      transactionsCount: sum(counted.map(({ count }) => count)),
      isVatOnDebits: category === "TPS1" && isVatOnDebits(day, settings),
      taxSubtotals,
    },
  ];
}

/** Returns a block for each day and currency in which something was received for services without VAT on debits. */
export async function buildPaymentsBlocks(
  days: readonly DayFigures[],
  { settings, findCategory, pause }: BlocksInput,
): Promise<PaymentsBlock[]> {
  const blocks: PaymentsBlock[] = [];
  for (const { day, currency, figures } of sortDays(days.filter((each) => !isVatOnDebits(each.day, settings)))) {
    await pause();
    const subtotals = groupByKey(
      figures.receipts.filter((receipt) => findCategory(receipt) === "TPS1"),
      ({ taxRate }) => [taxRate],
    )
      .map((rows) => ({ taxRate: rows[0].taxRate, amount: sum(rows.map(({ amount }) => amount)) }))
      .filter(({ amount }) => amount !== 0)
      .sort((one, other) => one.taxRate - other.taxRate);
    if (subtotals.length > 0) blocks.push({ day, currency, subtotals });
  }
  return blocks;
}

const sortDays = (days: readonly DayFigures[]) =>
  [...days].sort((one, other) => compare(one.day, other.day) || compare(one.currency, other.currency));

const compare = (one: string, other: string) => Number(one > other) - Number(one < other);
