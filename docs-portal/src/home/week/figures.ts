import { formatCurrencyAmount, siteLocale } from "../../money/format-amount.ts";
import type { MetricsAnswer, MetricsRow } from "./metrics.ts";
import type { WeekAnswers } from "./questions.ts";

/** A figure of the week, with its change against the week before. */
export interface WeekTotal {
  name: string;
  value: string;
  /** The change in percent with its sign; null if the week before has no figure. */
  change: string | null;
  isLower: boolean;
}

/** One chart and the table with the same figures. */
export interface WeekChart {
  title: string;
  /** Whether the values are columns, from left to right, or bars with names, from top to bottom. */
  shape: "columns" | "bars";
  /** The series, in the sequence in which they are drawn. Values are in minor units; null where the period has none. */
  series: { name: string; isEarlier: boolean; values: (number | null)[] }[];
  /** The names of the values below or beside the chart. */
  labels: string[];
  currency: string | null;
  /** A sentence that says what the chart shows, for those who do not see it. */
  summary: string;
  table: { head: string[]; rows: string[][] };
}

/** Returns the currency of the figures. A location with several currencies has the figures of the first one here. */
export function getWeekCurrency({ totals }: WeekAnswers): string | null {
  return totals.totals[0]?.currency ?? null;
}

/** Returns the totals of the week; an empty list if the week has no figures. */
export function describeTotals({ totals: answer }: WeekAnswers): WeekTotal[] {
  const [total] = answer.totals;
  if (!total) return [];
  const { currency, values, comparison } = total;
  const money = (amount: number) => formatCurrencyAmount(amount, currency);
  const describe = (name: string, measure: string, format: (value: number) => string): WeekTotal => {
    const percent = comparison?.percents[measure] ?? null;
    const value = values[measure] ?? null;
    return {
      name,
      value: value === null ? "–" : format(value),
      change: percent === null ? null : formatPercent(percent),
      isLower: (percent ?? 0) < 0,
    };
  };
  return [
    describe("Sales", "sales", money),
    describe("Orders", "orders", formatCount),
    describe("Average order", "averageOrder", money),
    describe("Guests", "guests", formatCount),
  ];
}

/** Returns the sales of each day beside those of the same weekday of the week before. */
export function describeDays({ days }: WeekAnswers, currency: string | null): WeekChart {
  const rows = rowsOf(days, currency);
  const sales = rows.map(({ values }) => values.sales ?? 0);
  const earlier = rows.map(({ comparison }) => comparison?.values.sales ?? null);
  const money = (amount: number | null) => (amount === null ? "–" : formatCurrencyAmount(amount, currency));
  const best = indexOfMax(sales);
  const bestDay = rows[best]?.dimensions.day;
  return {
    title: "Sales by day",
    shape: "columns",
    series: [
      { name: "Week before", isEarlier: true, values: earlier },
      { name: "This week", isEarlier: false, values: sales },
    ],
    labels: rows.map(({ dimensions }) => formatDay(dimensions.day, { weekday: "short", day: "numeric" })),
    currency,
    summary:
      `${rows.length} days with sales of ${money(sum(sales))}, after ${money(sum(earlier))} in the week before. ${
        !bestDay ? "" : `The best day is ${formatDay(bestDay, { weekday: "long" })} with ${money(sales[best] ?? 0)}.`
      }`.trim(),
    table: {
      head: ["Day", "Sales", "Week before", "Change"],
      rows: rows.map(({ dimensions, comparison }, index) => [
        formatDay(dimensions.day, { weekday: "short", day: "numeric", month: "short" }),
        money(sales[index] ?? null),
        money(earlier[index] ?? null),
        formatPercent(comparison?.percents.sales ?? null),
      ]),
    },
  };
}

/** Returns the sales of each hour, from the first hour with sales to the last one. */
export function describeHours({ hours }: WeekAnswers, currency: string | null): WeekChart {
  const byHour = new Map(rowsOf(hours, currency).map(({ dimensions, values }) => [dimensions.hour ?? 0, values]));
  const first = Math.min(...byHour.keys());
  const count = byHour.size === 0 ? 0 : Math.max(...byHour.keys()) - first + 1;
  const shown = Array.from({ length: count }, (_, index) => first + index);
  const sales = shown.map((hour) => byHour.get(hour)?.sales ?? 0);
  const money = (amount: number) => formatCurrencyAmount(amount, currency);
  const best = indexOfMax(sales);
  return {
    title: "Sales by hour",
    shape: "columns",
    series: [{ name: "Sales", isEarlier: false, values: sales }],
    labels: shown.map((hour) => `${hour}:00`),
    currency,
    summary:
      count === 0
        ? "No sales."
        : `Sales from ${first}:00 to ${first + count}:00. The best hour begins at ${shown[best]}:00, with ${money(sales[best] ?? 0)}.`,
    table: {
      head: ["Hour", "Sales", "Orders"],
      rows: shown.map((hour, index) => [
        `${hour}:00`,
        money(sales[index] ?? 0),
        formatCount(byHour.get(hour)?.orders ?? 0),
      ]),
    },
  };
}

/** Returns the products with the highest sales. */
export function describeProducts({ products }: WeekAnswers, currency: string | null): WeekChart {
  const rows = rowsOf(products, currency);
  return describeNamedRows(rows, currency, {
    title: "Top products by sales",
    nameOf: ({ dimensions }) => dimensions.product?.name ?? "",
    measure: "sales",
    head: ["Product", "Sales", "Quantity"],
    more: ({ values }) => [formatCount(values.quantity ?? 0)],
  });
}

/** Returns the payments of each payment method. The chart omits methods with which guests only left tips. */
export function describePayments({ payments }: WeekAnswers, currency: string | null): WeekChart {
  const rows = rowsOf(payments, currency);
  const names = rows.map(({ dimensions }) => dimensions.paymentMethod?.name);
  const options: NamedRowsOptions = {
    title: "Payments by method",
    nameOf({ dimensions: { paymentMethod } }) {
      const { name, mode } = { name: null, mode: null, ...paymentMethod };
      const isUnique = names.indexOf(name) === names.lastIndexOf(name);
      return isUnique ? (name ?? "") : `${name ?? ""} (${mode ?? "unknown"})`;
    },
    measure: "payments",
    head: ["Payment method", "Payments", "Number", "Tips"],
    more: ({ values }) => [formatCount(values.paymentCount ?? 0), formatCurrencyAmount(values.tips ?? 0, currency)],
  };
  const chart = describeNamedRows(
    rows.filter(({ values }) => values.payments !== 0),
    currency,
    options,
  );
  return { ...chart, table: describeNamedRows(rows, currency, options).table };
}

interface NamedRowsOptions {
  title: string;
  nameOf(row: MetricsRow): string;
  /** The measure that the chart shows. */
  measure: string;
  head: string[];
  /** Returns the cells of the table after the name and the amount. */
  more(row: MetricsRow): string[];
}

function describeNamedRows(
  rows: MetricsRow[],
  currency: string | null,
  { title, nameOf, measure, head, more }: NamedRowsOptions,
): WeekChart {
  const money = (amount: number) => formatCurrencyAmount(amount, currency);
  const amounts = rows.map(({ values }) => values[measure] ?? 0);
  const [first] = rows;
  return {
    title,
    shape: "bars",
    series: [{ name: head[1] ?? "", isEarlier: false, values: amounts }],
    labels: rows.map(nameOf),
    currency,
    summary: first
      ? `${head[0]} with the highest amount of ${rows.length}: ${nameOf(first)}, ${money(amounts[0] ?? 0)}.`
      : "No figures.",
    table: { head, rows: rows.map((row, index) => [nameOf(row), money(amounts[index] ?? 0), ...more(row)]) },
  };
}

/** Formats a date, such as "Sat 30 May". */
export function formatDay(day: string | null | undefined, options: Intl.DateTimeFormatOptions): string {
  if (!day) return "";
  return new Intl.DateTimeFormat(siteLocale, { ...options, timeZone: "UTC" }).format(new Date(`${day}T00:00:00Z`));
}

/** Formats a change, such as "+4.2%" or "−3%"; "–" if there is none. */
export function formatPercent(percent: number | null): string {
  if (percent === null) return "–";
  const format = new Intl.NumberFormat(siteLocale, {
    style: "percent",
    maximumFractionDigits: 1,
    signDisplay: "exceptZero",
  });
  return format.format(percent / 100).replace("-", "−");
}

function formatCount(count: number): string {
  return new Intl.NumberFormat(siteLocale).format(count);
}

/** Returns the rows of one currency, because amounts of several currencies are not comparable. */
function rowsOf({ data }: MetricsAnswer, currency: string | null): MetricsRow[] {
  return data.filter((row) => row.currency === currency);
}

const sum = (amounts: (number | null)[]) => amounts.reduce<number>((total, amount) => total + (amount ?? 0), 0);

const indexOfMax = (values: number[]) => values.indexOf(Math.max(...values));
