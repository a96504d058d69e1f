import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { Metrics } from "@pragma/contracts/metrics";
import type { DemoExampleLocation } from "./demo-example-location.ts";

/** The last complete week and the last month of the demo on June 1, 2026. */
const week = { since: "2026-05-25", until: "2026-05-31" };
const month = { since: "2026-05-01", until: "2026-05-31" };

/** The questions of the guide "Ask your data", in its sequence. */
const questions: Record<string, Record<string, string>> = {
  "ask-week": { measures: "sales,orders,averageOrder", ...week, compare: "previous_period" },
  "ask-best-sellers": { measures: "quantity,sales", dimensions: "product", ...month, sort: "-quantity", limit: "20" },
  "ask-hours": { measures: "sales,orders", dimensions: "hour", ...week },
  "ask-cash-and-card": {
    measures: "payments,paymentCount",
    dimensions: "paymentMethod",
    ...week,
    filters: '{"paymentMethod":["cash","card","amex"]}',
  },
  "ask-cancellations": {
    measures: "cancellations,canceledQuantity",
    dimensions: "cancellationReason,clerk",
    ...month,
    sort: "-cancellations",
    limit: "10",
  },
  "ask-guests": { measures: "averageGuest,guests", dimensions: "room", ...month, sort: "-averageGuest" },
  "ask-delivery": { measures: "sales,orders,averageOrder", dimensions: "serviceType", ...month },
  "ask-discounts": { measures: "discounts,discountCount", dimensions: "discount", ...month },
  "ask-vat": { measures: "tax,salesWithoutTax,sales", dimensions: "taxRate", ...month },
  "ask-last-year": { measures: "sales,orders,guests", ...month, compare: "previous_year" },
};

/** Records the answers to the questions of the guide. */
export async function recordOwnerQuestionExamples({ recorder }: DemoExampleLocation): Promise<void> {
  for (const [name, query] of Object.entries(questions)) {
    const path = `/v1/metrics?${String(new URLSearchParams(query)).replaceAll("%2C", ",")}`;
    Metrics.parse(await recorder.recordExchange(name, { path }));
  }
}

/** The week on the home page, with the date on which its answers were last recorded with another content. */
interface RecordedWeek {
  recordedOn: string;
  period: { since: string; until: string };
  answers: Record<string, unknown>;
}

interface WeekQuestions {
  weekQuestions: readonly { name: string }[];
  getWeekRequestPath(name: string, period: RecordedWeek["period"]): string;
}

/**
 * Returns the week on the home page as the API answers now, in the format of its file. The requests are those that the
 * home page sends. The date is that of the file if the file contains the same answers, and today's date otherwise.
 */
export async function recordHomePageWeek({ recorder }: DemoExampleLocation, portalFolder: string): Promise<string> {
  const questionsModule = pathToFileURL(join(portalFolder, "src", "home", "week", "questions.ts")).href;
  const { weekQuestions, getWeekRequestPath } = (await import(questionsModule)) as WeekQuestions;
  const answers: Record<string, unknown> = {};
  for (const { name } of weekQuestions) {
    const { body } = await recorder.sendRequest({ path: getWeekRequestPath(name, week) });
    answers[name] = recorder.normalize(Metrics.parse(body));
  }
  const file = join(portalFolder, "examples", "demo-week.json");
  const former: RecordedWeek | undefined = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
  const isUnchanged = isDeepStrictEqual(former?.answers, answers) && isDeepStrictEqual(former?.period, week);
  const recordedOn = former && isUnchanged ? former.recordedOn : new Date().toISOString().slice(0, 10);
  return `${JSON.stringify({ recordedOn, period: week, answers } satisfies RecordedWeek, null, 2)}\n`;
}
