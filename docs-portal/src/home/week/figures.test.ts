import { describe, expect, it } from "vitest";
import { formatCurrencyAmount } from "../../money/format-amount.ts";
import {
  describeDays,
  describeHours,
  describePayments,
  describeProducts,
  describeTotals,
  formatPercent,
  getWeekCurrency,
} from "./figures.ts";
import type { MetricsAnswer, MetricsRow } from "./metrics.ts";
import { getLastCompleteWeek, getWeekRequestPath, type WeekAnswers } from "./questions.ts";

const period = { since: "2026-05-25", until: "2026-05-31", compareSince: null, compareUntil: null };

function createRow(row: Partial<MetricsRow>): MetricsRow {
  return { currency: "EUR", dimensions: {}, values: {}, comparison: null, ...row };
}

function createAnswers(answers: Partial<Record<keyof WeekAnswers, Partial<MetricsAnswer>>> = {}): WeekAnswers {
  const empty = { ...period, data: [], totals: [] };
  const { totals, days, hours, products, payments } = answers;
  return {
    totals: { ...empty, ...totals },
    days: { ...empty, ...days },
    hours: { ...empty, ...hours },
    products: { ...empty, ...products },
    payments: { ...empty, ...payments },
  };
}

describe("an amount", () => {
  it.each([
    [280_903, "EUR", "€2,809.03"],
    [-5, "EUR", "-€0.05"],
    [1_200, "JPY", "JP¥1,200"],
    [1_234_567, "TND", "TND 1,234.567"],
    [280_903, null, "2,809.03"],
  ])("of %d minor units of %s is %s", (amount, currency, text) => {
    expect(formatCurrencyAmount(amount, currency).replace("\u00a0", " ")).toBe(text);
  });

  it("is rounded to whole units on axes", () => {
    expect(formatCurrencyAmount(280_960, "EUR", { isRounded: true })).toBe("€2,810");
    expect(formatCurrencyAmount(0.4, "EUR", { isRounded: true })).toBe("€0");
    expect(formatCurrencyAmount(1_234_567, "TND", { isRounded: true }).replace("\u00a0", " ")).toBe("TND 1,235");
  });
});

describe("a change", () => {
  it.each([
    [4.25, "+4.3%"],
    [-3, "−3%"],
    [0, "0%"],
    [null, "–"],
  ])("of %s percent is %s", (percent, text) => {
    expect(formatPercent(percent)).toBe(text);
  });
});

describe("the last complete week", () => {
  it.each([
    ["2026-06-01T10:00:00Z", "Europe/Paris", "2026-05-25", "2026-05-31"],
    // In Paris, it is already June 1.
    ["2026-05-31T22:30:00Z", "Europe/Paris", "2026-05-25", "2026-05-31"],
    ["2026-05-31T21:30:00Z", "Europe/Paris", "2026-05-24", "2026-05-30"],
    // The clocks changed on March 29.
    ["2026-03-31T10:00:00Z", "Europe/Paris", "2026-03-24", "2026-03-30"],
  ])("at %s in %s is %s to %s", (now, timeZone, since, until) => {
    expect(getLastCompleteWeek(new Date(now), timeZone)).toEqual({ since, until });
  });

  it("is compared with the week before only where the page shows this", () => {
    expect(getWeekRequestPath("days", period)).toBe(
      "/v1/metrics?measures=sales,orders&dimensions=day&since=2026-05-25&until=2026-05-31&compare=previous_period",
    );
    expect(getWeekRequestPath("hours", period)).not.toContain("compare");
  });
});

describe("the figures of the week", () => {
  it("are those of the first currency, and are never added up with another", () => {
    const values = { payments: 100, paymentCount: 1, tips: 0 };
    const answers = createAnswers({
      totals: {
        totals: [
          { currency: "CHF", values: { sales: 500 }, comparison: null },
          { currency: "EUR", values: { sales: 900 }, comparison: null },
        ],
      },
      payments: {
        data: [
          createRow({ currency: "CHF", dimensions: { paymentMethod: { name: "Carte", mode: "card" } }, values }),
          createRow({ currency: "EUR", dimensions: { paymentMethod: { name: "Espèces", mode: "cash" } }, values }),
        ],
      },
    });
    expect(getWeekCurrency(answers)).toBe("CHF");
    expect(describeTotals(answers)[0]?.value.replace("\u00a0", " ")).toBe("CHF 5.00");
    expect(describePayments(answers, "CHF").labels).toEqual(["Carte"]);
  });

  it("show a change only if the week before has a figure", () => {
    const comparison = {
      values: { sales: 1_000, guests: 0 },
      differences: { sales: -100, guests: 7 },
      percents: { sales: -10, guests: null },
    };
    const values = { sales: 900, guests: 7, averageOrder: null };
    const answers = createAnswers({ totals: { totals: [{ currency: "EUR", values, comparison }] } });
    expect(describeTotals(answers)).toEqual([
      { name: "Sales", value: "€9.00", change: "−10%", isLower: true },
      { name: "Orders", value: "–", change: null, isLower: false },
      { name: "Average order", value: "–", change: null, isLower: false },
      { name: "Guests", value: "7", change: null, isLower: false },
    ]);
  });

  it("by day are beside those of the week before, and the summary names the best day", () => {
    const rows = [
      { day: "2026-05-30", sales: 3_000, earlier: 2_000 },
      { day: "2026-05-31", sales: 1_000, earlier: 0 },
    ].map(({ day, sales, earlier }) =>
      createRow({
        dimensions: { day },
        values: { sales },
        comparison: {
          values: { sales: earlier },
          differences: { sales: sales - earlier },
          percents: { sales: earlier === 0 ? null : (100 * (sales - earlier)) / earlier },
        },
      }),
    );
    const chart = describeDays(createAnswers({ days: { data: rows } }), "EUR");
    expect(chart.labels).toEqual(["Sat 30", "Sun 31"]);
    expect(chart.series.map(({ values }) => values)).toEqual([
      [2_000, 0],
      [3_000, 1_000],
    ]);
    expect(chart.table.rows).toEqual([
      ["Sat, 30 May", "€30.00", "€20.00", "+50%"],
      ["Sun, 31 May", "€10.00", "€0.00", "–"],
    ]);
    expect(chart.summary).toContain("€40.00, after €20.00 in the week before. The best day is Saturday with €30.00.");
  });

  it("by hour include the hours between the first and the last that have no sales", () => {
    const data = [12, 14].map((hour) => createRow({ dimensions: { hour }, values: { sales: hour * 100, orders: 1 } }));
    const chart = describeHours(createAnswers({ hours: { data } }), "EUR");
    expect(chart.table.rows).toEqual([
      ["12:00", "€12.00", "1"],
      ["13:00", "€0.00", "0"],
      ["14:00", "€14.00", "1"],
    ]);
    expect(chart.summary).toBe("Sales from 12:00 to 15:00. The best hour begins at 14:00, with €14.00.");
  });

  it("by payment method name the mode of equal names, and the chart omits methods with only tips", () => {
    const data = [
      { name: "Carte", mode: "card", payments: 2_000, tips: 0 },
      { name: "Pourboire", mode: "card", payments: 0, tips: 300 },
      { name: "Pourboire", mode: "cash", payments: 0, tips: 100 },
    ].map(({ payments, tips, ...paymentMethod }) =>
      createRow({ dimensions: { paymentMethod }, values: { payments, paymentCount: 1, tips } }),
    );
    const chart = describePayments(createAnswers({ payments: { data } }), "EUR");
    expect(chart.labels).toEqual(["Carte"]);
    expect(chart.table.rows).toEqual([
      ["Carte", "€20.00", "1", "€0.00"],
      ["Pourboire (card)", "€0.00", "1", "€3.00"],
      ["Pourboire (cash)", "€0.00", "1", "€1.00"],
    ]);
  });

  it("can be empty", () => {
    const answers = createAnswers();
    expect(describeTotals(answers)).toEqual([]);
    for (const describeChart of [describeDays, describeHours, describeProducts, describePayments])
      expect(describeChart(answers, null).table.rows).toEqual([]);
  });
});
