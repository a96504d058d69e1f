import type { MetricsAnswer } from "./metrics.ts";

/** The first and the last business day of a period, YYYY-MM-DD. */
export interface Period {
  since: string;
  until: string;
}

export type WeekQuestionName = (typeof weekQuestions)[number]["name"];

/** The answers that the section shows, by the name of the question. */
export type WeekAnswers = Record<WeekQuestionName, MetricsAnswer>;

/** The questions about a week that the home page shows. Each of them is one request. */
export const weekQuestions = [
  { name: "totals", query: "measures=sales,orders,averageOrder,guests", compare: true },
  { name: "days", query: "measures=sales,orders&dimensions=day", compare: true },
  { name: "hours", query: "measures=sales,orders&dimensions=hour", compare: false },
  { name: "products", query: "measures=sales,quantity&dimensions=product&sort=-sales&limit=10", compare: false },
  { name: "payments", query: "measures=payments,paymentCount,tips&dimensions=paymentMethod", compare: false },
] as const;

/** Returns the path and query of the request that answers a question about a period. */
export function getWeekRequestPath(name: WeekQuestionName, { since, until }: Period): string {
  const { query, compare } = weekQuestions.find((question) => question.name === name) ?? weekQuestions[0];
  return `/v1/metrics?${query}&since=${since}&until=${until}${compare ? "&compare=previous_period" : ""}`;
}

/** Returns the seven days before today. Today is the date in the time zone, because days are local dates. */
export function getLastCompleteWeek(now: Date, timeZone: string): Period {
  const today = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeZone }).format(now);
  const daysAgo = (days: number) =>
    new Date(Date.parse(`${today}T00:00:00Z`) - days * 86_400_000).toISOString().slice(0, 10);
  return { since: daysAgo(7), until: daysAgo(1) };
}
