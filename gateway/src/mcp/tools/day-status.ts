import { formatDecimalAmount } from "@pragma/contracts/currency";
import { countDays } from "@pragma/contracts/date-time";
import type { Day } from "@pragma/contracts/day";
import { Answer } from "../answer.ts";
import { describeChecks } from "../day-checks.ts";
import { ApiProblem, defineTool, type ToolContext, ToolInputError } from "../define-tool.ts";
import { describeAmountUnit, formatAmount } from "../format-amount.ts";
import { cleanText, formatCount, formatLocalTime } from "../format-text.ts";
import { findLocationAndPeriod, locationArgument, type ToolLocation } from "../location.ts";
import {
  addDays,
  describePeriod,
  findPeriodIssue,
  maxDayStatusDays,
  type Period,
  periodArguments,
  toPeriodArguments,
} from "../period.ts";
import { findCurrency } from "../request-metrics.ts";

const maxShownTills = 10;
const maxShownMissingDays = 10;

export const dayStatusTool = defineTool({
  name: "day_status",
  title: "Day status",
  description:
    "Whether business days are complete and their figures add up: tills, open shifts, totals, payments, checks. Default: yesterday.",
  scopes: ["reports:read"],
  arguments: { ...periodArguments, ...locationArgument },
  example: { since: "2026-05-29", until: "2026-05-29" },
  findIssue: findPeriodIssue,
  async answer(args, context) {
    const { location, period } = await findLocationAndPeriod(context, args, "yesterday");
    const dayCount = countDays(period);
    if (dayCount > maxDayStatusDays) {
      throw new ToolInputError(
        `day_status answers for at most ${maxDayStatusDays} days; got ${dayCount}. Example: day_status {"period":"last_month"}`,
      );
    }
    return dayCount === 1 ? answerForDay(context, location, period) : answerForDays(context, location, period);
  },
});

async function answerForDay(context: ToolContext, location: ToolLocation, period: Period): Promise<string> {
  const { since: date } = period;
  const answer = new Answer().add(`Business day ${describePeriod(period, location)}`);
  const [day, currency] = await Promise.all([
    getDayOrNull(context, location, date),
    findCurrency(context, { location, period }),
  ]);
  if (day === null) {
    return answer
      .add(
        "There are neither reports nor open shifts of this day: the restaurant was closed, or its tills are missing.",
      )
      .addNext("day_status", { since: addDays(date, -6), until: date, ...location.args }, "see the days before")
      .toString();
  }
  addState(answer, day);
  addTills(answer, day, location, currency);
  if (day.totals) addTotals(answer, day.totals, currency);
  answer.add(...describeChecks(day.reconciliation, currency));
  const report = findTillWithFinding(day) ?? day.tills[0];
  if (report)
    answer.addNext(
      "explain_report",
      { reportId: report.reportId, ...location.args },
      "see the report of a till in detail",
    );
  return answer
    .addNext("payments_breakdown", { since: date, until: date, ...location.args }, "see payments by method")
    .toString();
}

/** Returns null for a day without data. */
export async function getDayOrNull({ api }: ToolContext, { query }: ToolLocation, date: string): Promise<Day | null> {
  try {
    return await api.get<Day>(`/v1/days/${date}`, query);
  } catch (error) {
    if (error instanceof ApiProblem && error.problem.code === "day_not_found") return null;
    throw error;
  }
}

function addState(answer: Answer, { state, reasons, openShifts }: Day): void {
  answer.add(
    `State: ${state}${state === "closed" ? " (every known shift has ended, nothing is known to be missing)" : ""}`,
    ...reasons.map(({ code, message }) => `Reason: ${code}: ${message}`),
    openShifts.length > 0 ? `Open shifts: ${openShifts.length}. Their sales are not included yet.` : undefined,
  );
}

function addTills(
  answer: Answer,
  { tills, tillCount }: Day,
  { timeZone }: ToolLocation,
  currency: string | null,
): void {
  answer.addTable({
    columns: ["report number", "device", "started", "closed", `sales (${describeAmountUnit(currency)})`, "report ID"],
    rows: tills
      .slice(0, maxShownTills)
      .map((till) => [
        String(till.reportNumber),
        cleanText(till.deviceName),
        formatLocalTime(till.startedAt, timeZone),
        formatLocalTime(till.finalizedAt, timeZone),
        formatDecimalAmount(till.totalSales, currency),
        till.reportId,
      ]),
    describeRest: (shownCount) => {
      const rest = tills.slice(shownCount).reduce((sum, till) => sum + till.totalSales, 0);
      if (tills.length === 0 && tillCount > 0) return `Left out: ${tillCount} tills, which are too many to list`;
      return tillCount > shownCount
        ? `Left out: ${formatCount(tillCount - shownCount, "till")} (sales ${formatAmount(rest, currency)})`
        : undefined;
    },
  });
}

function addTotals(answer: Answer, totals: NonNullable<Day["totals"]>, currency: string | null): void {
  answer.add(
    `Total: sales ${formatAmount(totals.totalSales, currency)}, ${formatCount(totals.orderCount, "order")}, ${formatCount(totals.guestsNumber, "guest")}, discounts ${formatAmount(totals.discounts, currency)}`,
  );
  answer.addTable({
    columns: ["payment mode", `recorded (${describeAmountUnit(currency)})`, "declared", "tips"],
    rows: totals.payments.map((payment) => [
      payment.paymentMode,
      formatDecimalAmount(payment.recordedAmount, currency),
      formatDecimalAmount(payment.declaredAmount, currency),
      formatDecimalAmount(payment.tipsAmount, currency),
    ]),
  });
}

function findTillWithFinding({ tills, reconciliation }: Day) {
  const found = new Set(
    reconciliation
      .filter(({ status }) => status === "failed")
      .flatMap(({ findings }) => findings.map(({ tillId }) => tillId)),
  );
  return tills.find(({ tillId }) => found.has(tillId));
}

async function answerForDays(context: ToolContext, location: ToolLocation, period: Period): Promise<string> {
  const { since, until } = period;
  const [days, currency] = await Promise.all([
    listDays(context, location, period),
    findCurrency(context, { location, period }),
  ]);
  const byDate = new Map(days.map((day) => [day.day, day]));
  const missing = Array.from({ length: countDays(period) }, (_, index) => addDays(since, index)).filter(
    (date) => !byDate.has(date),
  );
  const unclear = days.filter((day) => day.state !== "closed" || listFailedChecks(day).length > 0);
  const sumOf = (list: Day[]) => list.reduce((sum, { totals }) => sum + (totals?.totalSales ?? 0), 0);
  const answer = new Answer().add(
    `Business days, ${describePeriod(period, location)}`,
    `${formatCount(days.length, "day")} with data, sales ${formatAmount(sumOf(days), currency)}. ${formatCount(days.length - unclear.length, "day is", "days are")} closed without a failed check.`,
  );
  if (missing.length > 0) {
    const rest = missing.length - maxShownMissingDays;
    answer.add(
      `${formatCount(missing.length, "day")} without reports (closed restaurant, or missing tills): ${missing.slice(0, maxShownMissingDays).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`,
    );
  }
  if (unclear.length > 0) {
    answer.addTable({
      columns: ["day", "state", `sales (${describeAmountUnit(currency)})`, "failed checks and reasons"],
      rows: unclear.map((day) => [
        day.day,
        day.state,
        day.totals ? formatDecimalAmount(day.totals.totalSales, currency) : "-",
        [...day.reasons, ...listFailedChecks(day)].map(({ code }) => code).join(", ") || "-",
      ]),
      describeRest: (shownCount) =>
        shownCount < unclear.length
          ? `Left out: ${formatCount(unclear.length - shownCount, "day")} (sales ${formatAmount(sumOf(unclear.slice(shownCount)), currency)})`
          : undefined,
    });
  }
  const [first] = unclear;
  if (first)
    answer.addNext("day_status", { since: first.day, until: first.day, ...location.args }, "see why a check failed");
  return answer
    .addNext(
      "sales_summary",
      { ...toPeriodArguments(period), groupBy: "day", ...location.args },
      `see sales from ${since} to ${until} by day`,
    )
    .toString();
}

const listFailedChecks = ({ reconciliation }: Day) => reconciliation.filter(({ status }) => status === "failed");

interface DayPage {
  data: Day[];
  nextPageToken: string | null;
}

/** Returns all days of a period that have data, latest first. */
async function listDays({ api }: ToolContext, { query }: ToolLocation, { since, until }: Period): Promise<Day[]> {
  const days: Day[] = [];
  let pageToken: string | undefined;
  do {
    const page = await api.get<DayPage>("/v1/days/", { since, until, size: 100, pageToken, ...query });
    days.push(...page.data);
    pageToken = page.nextPageToken ?? undefined;
  } while (pageToken !== undefined);
  return days;
}
