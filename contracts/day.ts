import { array, object, z } from "zod";
import { paymentModes } from "./enumerations.ts";
import { dayExample } from "./examples/day.ts";
import { enumOf, field, listDescriptions } from "./fields.ts";

/** A day with more tills is `incomplete`, and has neither totals nor checks. */
export const maxTillsPerDay = 200;
/** A check lists at most this number of findings. */
export const maxFindingsPerCheck = 100;

const dayStateDescriptions = {
  open: "A shift of the day has live orders, so its till is still expected",
  closed: "Every known shift of the day has ended, and nothing is known to be missing",
  incomplete: "No shift of the day is open, and something is missing. `reasons` states what.",
} as const;

/** The states of which webhooks are notified. */
export const notifiedDayStates = ["closed", "incomplete"] as const;

export const dayReasonDescriptions = {
  orders_without_till:
    "Live orders that were not canceled are in no till, so a till or orders of a till are probably missing",
  report_number_gap: "A device skipped report numbers, so tills are probably missing",
  figures_unavailable: "Sums of some tills are too large, so the totals lack the figures of these tills",
  amounts_too_large: "A sum exceeds 9,007,199,254,740,991 minor units, so it cannot be computed exactly",
  too_many_tills: `The day has more than ${maxTillsPerDay} tills, so nothing is added up`,
} as const;

/** The checks of a day, and what each of them means. */
export const dayCheckDescriptions = {
  recorded_payments:
    "The payments that are attached to orders equal the totals that the point of sale declared, for each payment mode, without tips.",
  sales:
    "The sales equal the payments for them, including deposits and customer accounts, plus what guests still owe, minus what is owed to guests. Tips, change and payments for canceled orders are not part of the comparison.",
  cash: "The counted cash equals the cash at the start of the shift, plus payments, tips and movements in cash, minus change in cash on other payments.",
  movement_signs:
    "Movements of the type cash-out have no amount above 0, and movements of the type cash-in none below 0. Amounts of movements are never corrected, so a cash-out above 0 counts as money that was added.",
  order_totals: "The totals of orders equal the prices of their products.",
  taxes: "The prices of products equal their price without VAT plus VAT, for each VAT rate.",
  order_taxes: "The VAT that orders declare equals the VAT of their products.",
  order_net_totals: "The totals without VAT that orders and rooms declare equal those of their products.",
  order_discounts: "The discounts that orders declare equal those of their products.",
  report_number_gaps: "The report numbers of each device follow each other without a gap.",
  report_number_repeats: "No device used a report number twice.",
  shift_overlaps: "The shifts of each device do not overlap.",
  orders_without_till: "Every order of the day that was live is in a till.",
  cancellations_after_bill: "No product was canceled after the bill of its order was printed.",
  refunds_without_sale:
    "No till refunds more of a product than it sells. Such refunds have their original in another till, or none.",
} as const;

export type DayCheckCode = keyof typeof dayCheckDescriptions;
export type DayReasonCode = keyof typeof dayReasonDescriptions;

/** The amounts that checks compare or state, with their descriptions. */
const checkAmountDescriptions = {
  recorded: "Payments that are attached to orders",
  declared: "Payment totals that the point of sale declared, or amounts that its orders declare",
  rows: "Sums of product rows",
  sales: "Total sales",
  payments: "Payments of all orders, except deposits and customer accounts",
  deposits: "Payments with a deposit that the guest paid earlier",
  customerAccounts: "Payments that are charged to a customer account",
  paidForUnsold:
    "Payments of orders that were canceled or transferred, which are also in `payments`, `deposits` or `customerAccounts`",
  unpaid: "What guests still owe for sales",
  owed: "What is owed to guests, including what they paid beyond the totals of their orders",
  tips: "Tips",
  change: "Change that guests received",
  opening: "Cash at the start of shifts",
  cashPayments: "Payments in cash",
  cashTips: "Tips in cash",
  cashChange:
    "Change in cash on payments by other modes, minus change on cash payments that was given by other modes. It reduces the expected cash.",
  cashMovements: "Financial movements in cash, or without a payment mode",
  counted: "Cash that was counted at the end of shifts",
  negativeCashIn: "Movements of the type `cash-in` with amounts below 0",
  positiveCashOut: "Movements of the type `cash-out` with amounts above 0",
  canceled: "Price of products that were canceled after the bill was printed",
  refunded: "Price of refunded products without a sale in the same till",
  withoutTill: "Totals of orders that were live and are in no till, as they were last sent",
} as const;

export type DayCheckAmountName = keyof typeof checkAmountDescriptions;

const finding = object({
  tillId: field.nullableUuid(
    "ID of the till, which may not have been pushed if the finding is an order without a till; null if the finding concerns the whole day",
  ),
  otherTillId: field.nullableUuid(
    "ID of the other till of an overlap or a repeated number; null if there is none, or if it is of an earlier day",
  ),
  orderId: field.nullableUuid("ID of an order that is in no till; null for other findings"),
  paymentMode: z.enum(paymentModes).nullable().describe("Payment mode; null for other findings"),
  movementType: z.enum(["cash-in", "cash-out"]).nullable().meta({
    description:
      "Type of financial movements whose amounts have the wrong sign; null for other findings. `difference` is the sum of these amounts.",
  }),
  taxRate: field.nullableInteger("VAT rate in hundredths of a percent; null for other findings"),
  deviceIdentifier: field.nullableText("ID of the device, or its name if the till has no ID; null for other findings"),
  firstReportNumber: field.nullableInteger("First missing number, or the repeated number"),
  lastReportNumber: field.nullableInteger("Last missing number, or the repeated number"),
  difference: field.nullableInteger(
    "Difference in minor units, as `difference` of the check; null if nothing is compared",
  ),
}).meta({ id: "DayCheckFinding", description: "What a failed check found" });

export type DayCheckFinding = z.infer<typeof finding>;

export const DayCheck = object({
  code: enumOf(dayCheckDescriptions).describe(listDescriptions(dayCheckDescriptions)),
  status: z.enum(["passed", "failed", "unavailable"]).meta({
    description:
      "`passed`: the statement of the check is true. `failed`: it is not, see `findings`. `unavailable`: no till of the day has the figures that the check needs.",
  }),
  meaning: field.text("What is true if the check passes, in one sentence"),
  difference: field.nullableInteger(
    "First figure minus second figure, in minor units: recorded minus declared, sales minus expected sales, counted minus expected cash, or declared minus rows; null if the check compares no amounts",
  ),
  amounts: array(
    object({
      name: enumOf(checkAmountDescriptions).describe(listDescriptions(checkAmountDescriptions)),
      amount: field.computedAmount("Sum over the tills that were checked"),
    }),
  ).describe("The amounts that the check compares, or that help to understand a difference"),
  findingCount: field.count("Number of findings"),
  findings: array(finding).describe(`The first ${maxFindingsPerCheck} findings`),
  uncheckedTillIds: array(z.guid()).describe(
    "IDs of the tills without the figures that this check needs: their cash was not counted, they name no device, or they must be reprocessed",
  ),
}).meta({ id: "DayCheck", description: "A reconciliation check. It states what it finds, and corrects nothing." });

export type DayCheck = z.infer<typeof DayCheck>;

export const DayTill = object({
  tillId: field.uuid("ID of the till"),
  reportId: field.uuid("ID of the report"),
  reportNumber: field.integer("Sequential number of the report, assigned by the point of sale"),
  tillRevision: field.positiveInteger(
    "Revision of the till: 1 for the first push, incremented by each replacement, reprocessing, and erasure of personal data",
  ),
  deviceIdentifier: field.text("ID of the device that closed the till"),
  deviceName: field.text("Name of the device that closed the till"),
  startedAt: field.dateTime("When the shift began"),
  finalizedAt: field.dateTime("When the till was closed"),
  totalSales: field.computedAmount("Total sales of the shift, including VAT"),
  isComplete: field.boolean(
    "Whether all figures of the till are part of the totals. False only if a sum of the till is too large.",
  ),
}).meta({ id: "DayTill", description: "A till of a business day" });

const openShift = object({
  tillId: field.uuid("ID of the till that live orders name, and that is not closed yet"),
  startedAt: field.dateTime("When the first known order of the shift was opened"),
}).meta({ id: "OpenShift", description: "A shift with live orders" });

const totals = object({
  totalSales: field.computedAmount("Total sales of all tills, including VAT"),
  orderCount: field.count("Number of orders that were neither canceled nor transferred"),
  guestsNumber: field.count("Number of guests in orders that were neither canceled nor transferred"),
  discounts: field.computedAmount("Discounts, including VAT"),
  taxes: array(
    object({
      taxRate: field.vatBasisPoints(),
      taxableAmount: field.computedAmount("Sales at this rate, excluding VAT"),
      taxAmount: field.computedAmount("VAT at this rate"),
    }),
  ).describe("Sales and VAT by VAT rate, lowest rate first"),
  payments: array(
    object({
      paymentMode: z.enum(paymentModes).describe("Payment mode, such as cash or card"),
      recordedAmount: field.computedAmount("Payments for orders, without tips"),
      tipsAmount: field.computedAmount("Tips"),
      changeAmount: field.computedAmount("Change that guests received"),
      declaredAmount: field.computedAmount("Total that the point of sale declared"),
    }),
  ).describe("Payments by payment mode"),
}).meta({
  id: "DayTotals",
  description:
    "The sums of the figures of the day's reports. `totalSales` adds up all tills, and the other sums only the tills whose `isComplete` is true.",
});

export type DayTotals = z.infer<typeof totals>;

export const Day = object({
  day: field.date("The business day, in the location's time zone"),
  locationId: field.uuid("ID of the location"),
  state: enumOf(dayStateDescriptions).describe(listDescriptions(dayStateDescriptions)),
  reasons: array(
    object({
      code: enumOf(dayReasonDescriptions).describe(listDescriptions(dayReasonDescriptions)),
      message: field.text("The reason, as a sentence"),
    }),
  ).describe("What is missing; empty if the day is closed. A day that is still open can also miss something already."),
  dayRevision: field.positiveInteger("Incremented each time the day changes"),
  updatedAt: field.dateTime("When the day changed last"),
  tillCount: field.count("Number of tills of the day"),
  tills: array(DayTill).describe(
    `The tills of the day by start; empty if the day has more than ${maxTillsPerDay} tills`,
  ),
  openShifts: array(openShift).describe(
    `The open shifts of the day by start, at most ${maxTillsPerDay}. The day of an open shift is that of its first known order.`,
  ),
  totals: totals.nullable().meta({
    description: `The sums of the figures of the day's reports; null if the day has more than ${maxTillsPerDay} tills, or if a sum is too large`,
  }),
  reconciliation: array(DayCheck).describe(`The checks; empty if \`totals\` is null`),
}).meta({
  id: "Day",
  description: "A business day of a location: its tills, totals and reconciliation checks",
  example: dayExample,
});

export type Day = z.infer<typeof Day>;
