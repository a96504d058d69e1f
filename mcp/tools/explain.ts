import type { ApiSchemaTypes } from "@pragma/client";
import { z } from "zod";
import { defineTool, type ToolContext, ToolInputError } from "../define-tool.ts";
import { findCurrency } from "../figures.ts";
import { describeAmountUnit, formatSum } from "../format-text.ts";
import { addDays, dayArgument, selectionArguments, selectLocation } from "../period.ts";
import { pickFields, pickRows, rowSchema, rowsSchema, type Units } from "../rows.ts";
import { checksSchema, describeChecks, getDayOrNull, listTills } from "./days.ts";

type Day = ApiSchemaTypes["Day"];
type Report = ApiSchemaTypes["ReportV2"];

export const explainTool = defineTool({
  name: "explain",
  title: "Explain a report",
  description:
    "One end-of-day (Z) report: sales, VAT, payments recorded and declared, cash, deductions, and the checks of its day. Default: the latest report.",
  arguments: {
    reportId: z.guid().optional(),
    day: dayArgument.describe("Instead of reportId"),
    locationId: selectionArguments.locationId,
  },
  example: { day: "2026-05-29" },
  output: {
    amountsIn: z.string().optional(),
    reports: rowsSchema.optional(),
    report: rowSchema.optional(),
    taxes: rowsSchema.optional(),
    recordedPayments: rowsSchema.optional(),
    declaredPayments: rowsSchema.optional(),
    deductions: rowSchema.optional(),
    checks: checksSchema.optional(),
  },
  findIssue: ({ reportId, day }) => (reportId && day ? "day: use either reportId or day" : undefined),
  async answer(args, context) {
    const { reportId, ...choice } = await chooseReport(context, args);
    if (reportId === undefined) return choice;
    const { data: report } = await context.api.GET("/v2/reports/{id}", { params: { path: { id: reportId } } });
    const { locationId } = report;
    if (args.locationId !== undefined && args.locationId.toLowerCase() !== locationId) {
      throw new ToolInputError(
        `The report belongs to the location ${locationId}, not to ${args.locationId.toLowerCase()}. Remove reportId, or use the locationId of the report.`,
      );
    }
    const { location, timeZone } = await selectLocation(context, locationId, { isTimeZoneNeeded: true });
    const started = report.startedAt.slice(0, 10);
    // The business day is the local date of the start, which can differ from the date in UTC by one day.
    const period = { since: addDays(started, -1), until: addDays(started, 1) };
    const query = { ...period, size: 3, ...location };
    const [days, currency = null] = await Promise.all([
      context.api.GET("/v1/days", { params: { query } }),
      findCurrency(context, { location, period }),
    ]);
    const day = days.data.data.find(({ tills }) => tills.some((till) => till.reportId === report.id));
    return {
      ...describeReport(report, day, { currency, timeZone }),
      notes: ["Left out: products, menus, modifiers, rooms, clerk shifts and the list of orders."],
    };
  },
});

type ReportArguments = Partial<Record<"reportId" | "day" | "locationId", string | undefined>>;

/** Returns the id of the report that the arguments mean, or the answer if they mean none or several. */
async function chooseReport(context: ToolContext, { reportId, day: date, locationId }: ReportArguments) {
  if (reportId !== undefined) return { reportId: reportId.toLowerCase() };
  const { location, timeZone } = await selectLocation(context, locationId, { isTimeZoneNeeded: false });
  if (date === undefined) {
    const { data } = await context.api.GET("/v2/reports", { params: { query: { size: 1, ...location } } });
    return data.data[0] ? { reportId: data.data[0].id } : { notes: ["This location has no reports yet."] };
  }
  const day = await getDayOrNull(context, location, date);
  if (!day?.tills[0]) return { notes: [`There is no report of ${date}.`] };
  if (day.tills.length === 1) return { reportId: day.tills[0].reportId };
  const currency = (await findCurrency(context, { location, period: { since: date, until: date } })) ?? null;
  return {
    amountsIn: describeAmountUnit(currency),
    reports: listTills(day, { currency, timeZone }),
    notes: [`${date} has ${day.tills.length} reports. Call explain with the reportId of one of them.`],
  };
}

function describeReport(report: Report, day: Day | undefined, units: Units) {
  const add = (amounts: number[]) => formatSum(amounts, units.currency);
  return {
    amountsIn: describeAmountUnit(units.currency),
    report: {
      ...(day && { businessDay: day.day, stateOfDay: day.state }),
      ...pickFields(
        report,
        {
          times: ["startedAt", "finalizedAt"],
          names: ["deviceName", "establishmentName", "clerkName"],
          values: ["reportNumber", "orderCount", "guestsNumber"],
          amounts: ["totalSales", "initialCashBalance", "finalCashBalance"],
        },
        units,
      ),
    },
    taxes: pickRows(report.reportTaxes, { rates: ["taxRate"], amounts: ["taxableAmount", "taxAmount"] }, units),
    recordedPayments: pickRows(
      report.reportRecordedPayments,
      { names: ["name"], values: ["paymentMode", "paymentType"], amounts: ["totalAmount", "tipsAmount"] },
      units,
    ),
    declaredPayments: pickRows(
      report.reportPayments,
      { names: ["paymentName"], values: ["paymentMode"], amounts: ["paymentAmount"] },
      units,
    ),
    deductions: {
      discounts: add(report.reportDiscounts.map(({ discountValue }) => discountValue)),
      cancellations: add(report.reportCancellations.map(({ amount }) => amount)),
      transfers: add(report.reportTransferred.map(({ amount }) => amount)),
      cashMovements: add(report.reportEntries.map(({ entryAmount }) => entryAmount)),
    },
    ...(day && { checks: describeChecks(day, units) }),
  };
}
