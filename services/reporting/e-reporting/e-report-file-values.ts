import type { EReportFile } from "./e-report-file.ts";

export const listTransactions = ({ TransactionsReport }: EReportFile) => TransactionsReport?.Transactions ?? [];
const listPayments = ({ PaymentsReport }: EReportFile) =>
  (PaymentsReport?.Transactions ?? []).map(({ Payment }) => Payment);

export const getPeriod = ({ TransactionsReport, PaymentsReport }: EReportFile) =>
  (TransactionsReport ?? PaymentsReport)?.ReportPeriod ?? { StartDate: "", EndDate: "" };

export const listDays = (file: EReportFile) =>
  [...listTransactions(file), ...listPayments(file)].map(({ Date: day }) => day);

export const listDates = (file: EReportFile) => [getPeriod(file).StartDate, getPeriod(file).EndDate, ...listDays(file)];

export const listCurrencies = (file: EReportFile) => [
  ...listTransactions(file).map(({ TransactionsCurrency }) => TransactionsCurrency),
  ...listReceivedAmounts(file).map(({ currency }) => currency),
];

export const listTransactionAmounts = (file: EReportFile) =>
  listTransactions(file).flatMap(({ TaxExclusiveAmount, TaxTotal, TaxSubtotal }) => [
    ...[TaxExclusiveAmount, TaxTotal],
    ...TaxSubtotal.flatMap((subtotal) => [subtotal.TaxableAmount, subtotal.TaxTotal]),
  ]);

export const listReceivedAmounts = (file: EReportFile) =>
  listPayments(file).flatMap(({ Date: day, SubTotals }) =>
    SubTotals.map(({ Amount: amount, CurrencyCode: currency }) => ({ day, amount, currency })),
  );

export const listRates = (file: EReportFile) => [
  ...listTransactions(file).flatMap(({ Date: day, TaxSubtotal }) =>
    TaxSubtotal.map(({ TaxPercent: rate }) => ({ day, rate })),
  ),
  ...listPayments(file).flatMap(({ Date: day, SubTotals }) => SubTotals.map(({ TaxPercent: rate }) => ({ day, rate }))),
];

/** The decimal separator does not count toward the 19 characters, and the minus sign does. */
export function isAmount(text: string, maxDecimals: number): boolean {
  const [, decimals = ""] = /^-?\d+(?:\.(\d+))?$/.exec(text) ?? [undefined, "x".repeat(99)];
  return decimals.length <= maxDecimals && text.replace(".", "").length <= 19;
}

export function isFileDate(text: string): boolean {
  if (!/^\d{8}$/.test(text)) return false;
  const day = toIsoDay(text);
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}

/** YYYY-MM-DD. */
export const toIsoDay = (day: string) => `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;

/** The decimals beyond two, which rule G1.14 forbids, are ignored. */
export function toCents(text: string): number {
  const [whole = "", decimals = ""] = text.split(".");
  return Number(`${whole}${decimals.slice(0, 2).padEnd(2, "0")}`);
}

export const toFileTime = (time: string) => time.replaceAll(/\D/g, "");
