import { type ApiSchemaTypes, nullOnProblem } from "@pragma/client";
import { z } from "zod";
import { defineTool, type ToolContext, ToolInputError } from "../define-tool.ts";
import { findCurrency } from "../figures.ts";
import { describeAmountUnit, formatAmount, formatSum } from "../format-text.ts";
import { addDays, findPeriodIssue, periodSchema, type Selection, selectionArguments, selectPeriod } from "../period.ts";
import { maxRows, pickFields, pickRows, type Row, rowsSchema, type Units } from "../rows.ts";

type Day = ApiSchemaTypes["Day"];
type DayCheck = Day["reconciliation"][number];

const maxDays = 92;
const maxShownFindings = 3;

export const checksSchema = z.object({ passed: z.int(), notPossible: z.string(), failed: rowsSchema });

const listFailedChecks = ({ reconciliation }: Day) => reconciliation.filter(({ status }) => status === "failed");

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
    const { period, timeZone } = selection;
    if (period.days > maxDays) {
      throw new ToolInputError(
        `days answers for at most ${maxDays} days; got ${period.days}. Example: days {"period":"last_month"}`,
      );
    }
    const [days, currency = null, eReports] = await Promise.all([
      listDays(context, selection),
      findCurrency(context, selection),
      describeEReports(context, selection),
    ]);
    const units = { currency, timeZone };
    const dates = Array.from({ length: period.days }, (_, index) => addDays(period.since, index));
    const daysWithoutData = dates.filter((date) => !days.some(({ day }) => day === date));
    const unclear = days.filter((day) => day.state !== "closed" || listFailedChecks(day).length > 0);
    const [only] = period.days === 1 ? days : [];
    return {
      period,
      amountsIn: describeAmountUnit(currency),
      summary: {
        days: days.length,
        closedWithoutFailedCheck: days.length - unclear.length,
        totalSales: formatSum(
          days.map(({ totals }) => totals?.totalSales ?? 0),
          currency,
        ),
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
        ...eReports,
        only && only.tillCount > maxRows ? `Only ${maxRows} of ${only.tillCount} tills are listed.` : undefined,
      ],
    };
  },
});

function describeDay(day: Day, units: Units) {
  return {
    reasons: day.reasons.map(({ code, message }) => ({ code, message })),
    tills: listTills(day, units),
    payments: pickRows(
      day.totals?.payments ?? [],
      { values: ["paymentMode"], amounts: ["recordedAmount", "declaredAmount", "tipsAmount"] },
      units,
    ),
    checks: describeChecks(day, units),
  };
}

export const listTills = ({ tills }: Day, units: Units) =>
  pickRows(
    tills,
    {
      times: ["startedAt", "finalizedAt"],
      names: ["deviceName"],
      values: ["reportNumber", "reportId"],
      amounts: ["totalSales"],
    },
    units,
  );

export async function getDayOrNull({ api }: ToolContext, query: Selection["location"], date: string) {
  const found = api.GET("/v1/days/{date}", { params: { path: { date }, query } });
  return (await nullOnProblem(found, "day_not_found"))?.data ?? null;
}

/** Returns a line for each French e-report of the business of the location with days of the period. */
async function describeEReports(
  { api, canReadEReports, ownLocation }: ToolContext,
  { location, period }: Selection,
): Promise<string[]> {
  const locationId = location.locationId ?? ownLocation?.id;
  if (!canReadEReports || locationId === undefined) return [];
  const { data: declarants } = await api.GET("/v1/e-reporting/declarants", {
    params: { query: { size: maxBusinesses, locationId } },
  });
  const businesses = declarants.data;
  const requests = businesses.flatMap(({ siren }) =>
    (["transactions", "payments"] as const).map(async (kind) => {
      const query = { siren, kind, since: period.since, until: period.until };
      return (await api.GET("/v1/e-reports", { params: { query } })).data.data;
    }),
  );
  return (await Promise.all(requests))
    .flat()
    .filter(({ state }) => state !== "empty")
    .map(({ siren, kind, period: first, until, state, dueOn }) => {
      const business = businesses.length > 1 ? ` of the business ${siren}` : "";
      return `French e-report of ${kind}${business}, ${first} to ${until}: ${state}, due on ${dueOn}.`;
    });
}

/** The maximum number of businesses of a location. */
const maxBusinesses = 10;

async function listDays(context: ToolContext, { location, period: { since, until } }: Selection): Promise<Day[]> {
  const days: Day[] = [];
  const query = { since, until, ...location };
  for await (const day of context.api.items("/v1/days", { params: { query } })) days.push(day);
  return days;
}

/** Returns the failed checks of a day with their first findings, and which others passed or were not possible. */
export function describeChecks(day: Day, units: Units): z.infer<typeof checksSchema> {
  const codesOf = (wanted: DayCheck["status"]) =>
    day.reconciliation.filter(({ status }) => status === wanted).map(({ code }) => code);
  return {
    passed: codesOf("passed").length,
    notPossible: codesOf("unavailable").join(" ") || "none",
    failed: listFailedChecks(day).map((check) => describeFailedCheck(check, units)),
  };
}

function describeFailedCheck(check: DayCheck, units: Units): Row {
  const findings = check.findings.slice(0, maxShownFindings).map((finding) => {
    const ids = ["tillId", "otherTillId", "orderId", "paymentMode", "movementType"] as const;
    const numbers = ["firstReportNumber", "lastReportNumber", "taxRate"] as const;
    const fields = pickFields(finding, { values: [...ids, ...numbers], amounts: ["difference"] }, units);
    return Object.entries(fields).flatMap(([name, value]) => (value === null ? [] : `${name} ${value}`));
  });
  return {
    ...pickFields(check, { values: ["code", "findingCount"], amounts: ["difference"] }, units),
    notTrue: check.meaning,
    amounts: check.amounts.map(({ name, amount }) => `${name} ${formatAmount(amount, units.currency)}`).join(", "),
    findings: findings.map((finding) => finding.join(", ")).join("; "),
  };
}
