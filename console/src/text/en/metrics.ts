import { plural, toWords } from "./words.ts";

export const metricsTexts = {
  metrics: {
    title: "Metrics",
    summary: "Figures of reports, by day, product, payment method and more",
    nameOf: toWords,
    measure: "Measure",
    by: "By",
    compare: "Compared with",
    noComparison: "Nothing",
    comparisons: { previous_period: "Period before", previous_year: "Year before" },
    answer: (measure: string, dimension: string) => `${measure} by ${dimension.toLowerCase()}`,
    csv: "Download CSV",
    total: "Total",
    change: "Change",
    thisPeriod: "This period",
    earlierPeriod: "Earlier period",
    chart: (measure: string, total: string) => `${measure}: ${total} in total. The table below has all figures.`,
    none: "None",
    empty: "There are no figures in this period. Choose other dates.",
    omitted: (count: number) => plural(count, { one: "# more row is left out.", other: "# more rows are left out." }),
  },
};
