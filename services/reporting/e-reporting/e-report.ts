import {
  type DeclarantSettings,
  type TransactionCategory,
  transactionCategories,
} from "@pragma/contracts/e-reporting-declarant";
import { groupByKey, sum } from "../calculation/groups.ts";
import { findCategory } from "./categories.ts";
import { addUpEReportFigures, type EReportFigures } from "./till-e-figures.ts";

/** The figures of one business day of a business, in one currency. */
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

/** Returns a block for each day, currency and category with sales, in this sequence. */
export function buildTransactionsBlocks(days: readonly DayFigures[], settings: DeclarantSettings): TransactionsBlock[] {
  return groupByKey(sortDays(days), ({ day, currency }) => [day, currency]).flatMap((group) => {
    const { day, currency } = group[0];
    const { sales, orders } = addUpEReportFigures(group.map(({ figures }) => figures));
    return transactionCategories.flatMap((category): TransactionsBlock[] => {
      const isInCategory = (kind: Parameters<typeof findCategory>[0]) => findCategory(kind, settings) === category;
      const rates = groupByKey(sales.filter(isInCategory), ({ taxRate }) => [taxRate])
        .map((rows) => ({
          taxRate: rows[0].taxRate,
          taxableAmount: sum(rows.map(({ taxable }) => taxable)),
          taxTotal: sum(rows.map(({ tax }) => tax)),
        }))
        .sort((one, other) => one.taxRate - other.taxRate);
      if (rates.length === 0) return [];
      const counted = orders.filter(({ taxRates, ...kind }) =>
        taxRates.some((taxRate) => isInCategory({ ...kind, taxRate })),
      );
      return [
        {
          ...{ day, currency, category },
          taxExclusiveAmount: sum(rates.map(({ taxableAmount }) => taxableAmount)),
          taxTotal: sum(rates.map(({ taxTotal }) => taxTotal)),
          transactionsCount: sum(counted.map(({ count }) => count)),
          isVatOnDebits: category === "TPS1" && isVatOnDebits(day, settings),
          taxSubtotals: rates,
        },
      ];
    });
  });
}

/** Returns a block for each day and currency in which something was received for services without VAT on debits. */
export function buildPaymentsBlocks(days: readonly DayFigures[], settings: DeclarantSettings): PaymentsBlock[] {
  return groupByKey(sortDays(days.filter(({ day }) => !isVatOnDebits(day, settings))), ({ day, currency }) => [
    day,
    currency,
  ]).flatMap((group) => {
    const { day, currency } = group[0];
    const { receipts } = addUpEReportFigures(group.map(({ figures }) => figures));
    const subtotals = groupByKey(
      receipts.filter((receipt) => findCategory(receipt, settings) === "TPS1"),
      ({ taxRate }) => [taxRate],
    )
      .map((rows) => ({ taxRate: rows[0].taxRate, amount: sum(rows.map(({ amount }) => amount)) }))
      .filter(({ amount }) => amount !== 0)
      .sort((one, other) => one.taxRate - other.taxRate);
    return subtotals.length === 0 ? [] : [{ day, currency, subtotals }];
  });
}

const sortDays = (days: readonly DayFigures[]) =>
  [...days].sort((one, other) => compare(one.day, other.day) || compare(one.currency, other.currency));

const compare = (one: string, other: string) => Number(one > other) - Number(one < other);
