import { type ApiSchemaTypes, nullOnProblem } from "@pragma/client";
import { z } from "zod";
import { checksSchema, describeChecks, listFailedChecks } from "../day-checks.ts";
import { defineTool, maxRows, type ToolContext, ToolInputError } from "../define-tool.ts";
import { findCurrency } from "../figures.ts";
import { describeAmountUnit, formatAmount, pickFields, type Units } from "../format-text.ts";
import { addDays, findPeriodIssue, periodSchema, type Selection, selectionArguments, selectPeriod } from "../period.ts";
import { rowsSchema } from "../rows.ts";

type Day = ApiSchemaTypes["Day"];

/** Maximum number of days of an answer. */
const maxDays = 92;

export const daysTool = defineTool({
  name: "days",
  title: "Days and checks",
  description: `Whether business days are complete and their figures add up. One day: state, tills, payments recorded and declared, failed checks. Several, up to ${maxDays}: those that are not closed or have a failed check. Default: yesterday.`,
  arguments: selectionArguments,
  example: { since: "2026-05-29", until: "2026-05-29" },
  output: {
    period: periodSchema,
    amountsIn: z.string(),
    summary: z.object({ days: z.int(), closedWithoutFailedCheck: z.int(), totalSales: z.string().nullable() }),
    daysWithoutData: z.array(z.string()),
    days: rowsSchema,
    reasons: rowsSchema.optional(),
    tills: rowsSchema.optional(),
    payments: rowsSchema.optional(),
    checks: checksSchema.optional(),
  },
  findIssue: findPeriodIssue,
  async answer(args, context) {
    const selection = await selectPeriod(context, args, "yesterday");
    const { described, timeZone } = selection;
    if (described.days > maxDays) {
      throw new ToolInputError(
        `days answers for at most ${maxDays} days; got ${described.days}. Example: days {"period":"last_month"}`,
      );
    }
    const [days, currency = null] = await Promise.all([listDays(context, selection), findCurrency(context, selection)]);
    const units = { currency, timeZone };
    const dates = Array.from({ length: described.days }, (_, index) => addDays(described.since, index));
    const daysWithoutData = dates.filter((date) => !days.some(({ day }) => day === date));
    const unclear = days.filter((day) => day.state !== "closed" || listFailedChecks(day).length > 0);
    const [only] = described.days === 1 ? days : [];
    const totalSales = days.reduce((sum, { totals }) => sum + (totals?.totalSales ?? 0), 0);
    return {
      period: described,
      amountsIn: describeAmountUnit(currency),
      summary: {
        days: days.length,
        closedWithoutFailedCheck: days.length - unclear.length,
        totalSales: formatAmount(totalSales, currency),
      },
      daysWithoutData,
      days: (only ? [only] : unclear).map((day) => ({
        ...pickFields(day, { values: ["day", "state"] }, units),
        ...(day.totals &&
          pickFields(
            day.totals,
            { values: ["orderCount", "guestsNumber"], amounts: ["totalSales", "discounts"] },
            units,
          )),
        failedChecksAndReasons: [...day.reasons, ...listFailedChecks(day)].map(({ code }) => code).join(", "),
      })),
      ...(only && describeDay(only, units)),
      notes: [
        ...selection.notes,
        daysWithoutData.length > 0
          ? "A day without data has neither reports nor open shifts: the restaurant was closed, or its tills are missing."
          : undefined,
        only && only.openShifts.length > 0
          ? `Open shifts: ${only.openShifts.length}. Their sales are not included yet.`
          : undefined,
        only && only.tillCount > maxRows ? `Only ${maxRows} of ${only.tillCount} tills are listed.` : undefined,
      ],
    };
  },
});

/** Returns the tills, payments and checks of a day. */
function describeDay(day: Day, units: Units) {
  const amounts = ["recordedAmount", "declaredAmount", "tipsAmount"] as const;
  return {
    reasons: day.reasons.map(({ code, message }) => ({ code, message })),
    tills: listTills(day, units),
    payments: (day.totals?.payments ?? []).map((payment) =>
      pickFields(payment, { values: ["paymentMode"], amounts: [...amounts] }, units),
    ),
    checks: describeChecks(day, units),
  };
}

/** Returns the tills of a day as rows. */
export const listTills = ({ tills }: Day, units: Units) =>
  tills.slice(0, maxRows).map((till) =>
    pickFields(
      till,
      {
        times: ["startedAt", "finalizedAt"],
        names: ["deviceName"],
        values: ["reportNumber", "reportId"],
        amounts: ["totalSales"],
      },
      units,
    ),
  );

/** Returns the day of a location; null if it has no data. */
export async function getDayOrNull({ api }: ToolContext, query: Selection["location"], date: string) {
  const found = api.GET("/v1/days/{date}", { params: { path: { date }, query } });
  return (await nullOnProblem(found, "day_not_found"))?.data ?? null;
}

/** Returns the days of a period that have data, latest first. */
async function listDays(context: ToolContext, { location, period: { since, until } }: Selection): Promise<Day[]> {
  const days: Day[] = [];
  const query = { since, until, ...location };
  for await (const day of context.api.items("/v1/days", { params: { query } })) days.push(day);
  return days;
}
