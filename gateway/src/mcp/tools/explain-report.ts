import { formatDecimalAmount } from "@pragma/contracts/currency";
import type { Day } from "@pragma/contracts/day";
import type { ReportListItem, ReportV2 } from "@pragma/contracts/report-v2";
import { z } from "zod";
import { Answer } from "../answer.ts";
import { describeChecks } from "../day-checks.ts";
import { defineTool, type ToolContext, ToolInputError } from "../define-tool.ts";
import { describeAmountUnit, formatAmount } from "../format-amount.ts";
import { cleanText, formatCount, formatLocalTime } from "../format-text.ts";
import { findToolLocation, locationArgument, type ToolLocation } from "../location.ts";
import { addDays } from "../period.ts";
import { findCurrency } from "../request-metrics.ts";
import { getDayOrNull } from "./day-status.ts";

const maxShownRows = 10;

export const explainReportTool = defineTool({
  name: "explain_report",
  title: "Explain report",
  description:
    "One end-of-day (Z) report: sales, VAT, payments recorded and declared, cash, discounts, and the checks of its day. Default: the latest report.",
  scopes: ["reports:read"],
  arguments: {
    reportId: z.guid().optional(),
    day: z.iso
      .date({ error: "Must be an existing date as YYYY-MM-DD, such as 2026-05-29" })
      .optional()
      .describe("Instead of reportId"),
    ...locationArgument,
  },
  example: { day: "2026-05-29" },
  findIssue: ({ reportId, day }) =>
    reportId !== undefined && day !== undefined ? "day: use either reportId or day" : undefined,
  async answer(args, context) {
    const chosen = await chooseReport(context, args);
    if (typeof chosen === "string") return chosen;
    const report = await context.api.get<ReportV2>(`/v2/reports/${chosen.reportId}`);
    const { locationId } = report;
    if (args.locationId !== undefined && args.locationId.toLowerCase() !== locationId) {
      throw new ToolInputError(
        `The report belongs to the location ${locationId}, not to ${args.locationId.toLowerCase()}. Remove reportId, or use the locationId of the report.`,
      );
    }
    const location = await findToolLocation(context, { locationId });
    const started = report.startedAt.slice(0, 10);
    const [day, currency] = await Promise.all([
      chosen.day ?? findDayOfReport(context, location, report),
      findCurrency(context, { location, period: { since: addDays(started, -1), until: addDays(started, 1) } }),
    ]);
    return describeReport(report, { day, currency, location });
  },
});

/** Returns the id of the report that the arguments mean, or an answer if they mean none or several. */
async function chooseReport(
  context: ToolContext,
  args: { reportId?: string | undefined; day?: string | undefined; locationId?: string | undefined },
): Promise<{ reportId: string; day?: Day } | string> {
  const { reportId, day: date } = args;
  if (reportId !== undefined) return { reportId: reportId.toLowerCase() };
  const location = await findToolLocation(context, args, { isTimeZoneNeeded: false });
  if (date === undefined) {
    const { data } = await context.api.get<{ data: ReportListItem[] }>("/v2/reports/", { size: 1, ...location.query });
    const [latest] = data;
    if (latest) return { reportId: latest.id };
    throw new ToolInputError("This location has no reports yet.");
  }
  const day = await getDayOrNull(context, location, date);
  const [first, ...others] = day?.tills ?? [];
  if (day && first && others.length === 0) return { reportId: first.reportId, day };
  const answer = new Answer();
  if (!day || !first) {
    return answer
      .add(`There is no report of ${date}.`)
      .addNext("day_status", { since: date, until: date, ...location.args }, "see the state of the day")
      .toString();
  }
  return answer
    .add(`${date} has ${formatCount(day.tills.length, "report")}. Call explain_report with the ID of one of them.`)
    .addTable({
      columns: ["report number", "device", "closed", "report ID"],
      rows: day.tills.map((till) => [
        String(till.reportNumber),
        cleanText(till.deviceName),
        formatLocalTime(till.finalizedAt, location.timeZone),
        till.reportId,
      ]),
      describeRest: (shownCount) =>
        shownCount < day.tills.length ? `Left out: ${formatCount(day.tills.length - shownCount, "report")}` : undefined,
    })
    .addNext("explain_report", { reportId: first.reportId, ...location.args }, "see the first report")
    .toString();
}

/** Returns the business day of a report; undefined if its till is not listed. */
async function findDayOfReport(
  { api }: ToolContext,
  { query }: ToolLocation,
  { startedAt, id }: ReportV2,
): Promise<Day | undefined> {
  const date = startedAt.slice(0, 10);
  // The business day is the local date of the start, which can differ from the date in UTC by one day.
  const range = { since: addDays(date, -1), until: addDays(date, 1), size: 3 };
  const { data } = await api.get<{ data: Day[] }>("/v1/days/", { ...range, ...query });
  return data.find(({ tills }) => tills.some(({ reportId }) => reportId === id));
}

interface ReportDescription {
  day: Day | undefined;
  currency: string | null;
  location: ToolLocation;
}

function describeReport(report: ReportV2, description: ReportDescription): string {
  const { day, currency, location } = description;
  const { timeZone } = location;
  const answer = new Answer().add(
    `Report ${report.reportNumber} of ${cleanText(report.deviceName)}${day ? `, business day ${day.day}` : ""}${report.establishmentName ? ` (${cleanText(report.establishmentName)})` : ""}`,
    `Shift from ${formatLocalTime(report.startedAt, timeZone)} to ${formatLocalTime(report.finalizedAt, timeZone)} (${timeZone ?? "UTC"}), closed by ${cleanText(report.clerkName, "-")}`,
    `Sales incl. tax: ${formatAmount(report.totalSales, currency)}, ${formatCount(report.orderCount, "order")}, ${formatCount(report.guestsNumber, "guest")}`,
  );
  addTaxesAndPayments(answer, report, currency);
  addCashAndDeductions(answer, report, currency);
  if (day) answer.add(`Day ${day.day}: ${day.state}`, ...describeChecks(day.reconciliation, currency));
  answer.add("Left out: products, menus, modifiers, rooms, clerk shifts and the list of orders.");
  const args = day ? { since: day.day, until: day.day, ...location.args } : location.args;
  return answer
    .addNext("top_items", args, "see the products of the day")
    .addNext("search_docs", { query: "reconciliation checks of a day" }, "see what the checks mean")
    .toString();
}

const sumAmounts = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);

function addTaxesAndPayments(answer: Answer, report: ReportV2, currency: string | null): void {
  const unit = describeAmountUnit(currency);
  const format = (amount: number) => formatDecimalAmount(amount, currency);
  const createRest = (rows: { amount: number }[]) => (shownCount: number) => {
    const rest = sumAmounts(rows.slice(shownCount).map(({ amount }) => amount));
    return shownCount < rows.length
      ? `Left out: ${formatCount(rows.length - shownCount, "payment method")} (sum ${formatAmount(rest, currency)})`
      : undefined;
  };
  answer.addTable({
    columns: ["VAT rate", `sales excl. VAT (${unit})`, "VAT"],
    rows: report.reportTaxes.map((tax) => [`${tax.taxRate / 100}%`, format(tax.taxableAmount), format(tax.taxAmount)]),
  });
  const recorded = report.reportRecordedPayments.map((row) => ({ ...row, amount: row.totalAmount }));
  answer.addTable({
    columns: ["recorded payments", "mode", "type", `amount (${unit})`, "tips"],
    rows: recorded
      .slice(0, maxShownRows)
      .map((row) => [
        cleanText(row.name),
        row.paymentMode,
        row.paymentType,
        format(row.amount),
        format(row.tipsAmount),
      ]),
    describeRest: createRest(recorded),
  });
  const declared = report.reportPayments.map((row) => ({ ...row, amount: row.paymentAmount }));
  answer.addTable({
    columns: ["declared payments", "mode", `amount (${unit})`],
    rows: declared
      .slice(0, maxShownRows)
      .map((row) => [cleanText(row.paymentName), row.paymentMode, format(row.amount)]),
    describeRest: createRest(declared),
  });
}

function addCashAndDeductions(answer: Answer, report: ReportV2, currency: string | null): void {
  const format = (amount: number) => formatAmount(amount, currency);
  const movements = sumAmounts(report.reportEntries.map(({ entryAmount }) => entryAmount));
  const discounts = sumAmounts(report.reportDiscounts.map(({ discountValue }) => discountValue));
  const cancellations = sumAmounts(report.reportCancellations.map(({ amount }) => amount));
  const transfers = sumAmounts(report.reportTransferred.map(({ amount }) => amount));
  answer.add(
    `Cash: ${format(report.initialCashBalance)} at the start, ${format(report.finalCashBalance)} counted at the end; ${formatCount(report.reportEntries.length, "movement")} of ${format(movements)}`,
    `Discounts: ${format(discounts)}, cancellations: ${format(cancellations)}, transfers: ${format(transfers)}`,
  );
}
