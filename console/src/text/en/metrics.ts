import { plural, toWords } from "./words.ts";

/** The measures and dimensions whose words differ from their names in the API. */
const names: Record<string, string> = {
  salesWithoutTax: "Sales without VAT",
  tax: "VAT",
  taxRate: "VAT rate",
};

/** Returns a name as it is written within a sentence: `Payment method` without its capital, `VAT rate` as it is. */
const toSentencePart = (name: string) => name.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());

export const metricsTexts = {
  metrics: {
    title: "Metrics",
    summary: "Figures of reports by day, product, VAT rate and more. Payments and tips are also by payment method.",
    nameOf: (name: string) => names[name] ?? toWords(name),
    /**
     * The API's description of a measure, which names fields in code style. The view shows `unattributed` as a figure, with
     * a product dimension. Without one, the sentence about it is left out.
     */
    describe: (description: string, hasUnattributed: boolean) =>
      description
        .replace(/ [^.]*see `unattributed`\./, (sentence) => (hasUnattributed ? sentence : ""))
        .replace("see `unattributed`", "see “Not in products”")
        .replaceAll("`", ""),
    measure: "Measure",
    by: "By",
    thenBy: "Then by",
    noThenBy: "Nothing",
    compare: "Compared with",
    noComparison: "Nothing",
    comparisons: {
      previous_period: "Period before",
      previous_week: "Same weekdays before",
      previous_year: "Year before",
    },
    answer: (measure: string, dimensions: readonly string[]) =>
      `${measure} by ${dimensions.map((name) => toSentencePart(name)).join(" and ")}`,
    csv: "Download CSV",
    total: "Total",
    unattributed: "Not in products",
    change: "Change",
    thisPeriod: "This period",
    earlierPeriod: "Earlier period",
    periodWithDays: (period: string, days: string) => `${period}: ${days}`,
    chart: (measure: string, total: string) => `${measure}: ${total} in total. The table below has all figures.`,
    none: "None",
    week: (year: string, week: string) => `Week ${week} of ${year}`,
    weekdays: {
      monday: "Monday",
      tuesday: "Tuesday",
      wednesday: "Wednesday",
      thursday: "Thursday",
      friday: "Friday",
      saturday: "Saturday",
      sunday: "Sunday",
    },
    gifted: "on the house",
    empty: "There are no figures in this period. Choose other dates.",
    omitted: (count: number) => plural(count, { one: "# more row is left out.", other: "# more rows are left out." }),
  },
};
