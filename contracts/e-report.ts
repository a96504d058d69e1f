import { array, object, z } from "zod";
import { EReportCheck } from "./e-report-check.ts";
import { EReportTransmission } from "./e-report-transmission.ts";
import { siren, transactionCategory } from "./e-reporting-declarant.ts";
import { enumOf, field, listDescriptions } from "./fields.ts";

const kindDescriptions = {
  transactions: "sales to private customers by day, category and VAT rate (flux 10.3)",
  payments: "what was received for services by day and VAT rate (flux 10.4)",
} as const;
export type EReportKind = keyof typeof kindDescriptions;
export const eReportKinds = Object.keys(kindDescriptions) as [EReportKind, ...EReportKind[]];

export const eReportKind = enumOf(kindDescriptions).meta({
  description: `What the report contains: ${listDescriptions(kindDescriptions)}`,
  example: "transactions",
});
const stateDescriptions = {
  open: "the period has not ended, or days are not closed (`openDays`)",
  ready: "the period has ended, its known days are closed, and no file was taken",
  taken: "a file was taken, and its figures are still the same",
  changed: "a file was taken, and the figures have changed since (`changes`); days can be open again (`openDays`)",
  empty: "nothing was sold or received, as far as tills have arrived",
} as const;
export type EReportState = keyof typeof stateDescriptions;

const OpenDay = object({
  locationId: field.nullableUuid("ID of the location; null for a day that has not ended yet"),
  day: field.date("The business day"),
  state: z.enum(["not_ended", "open", "incomplete", "without_figures", "without_siren"]).meta({
    description:
      "`not_ended`: the first day of the period that has not ended. `open` and `incomplete`: the state of the business day. `without_figures`: a till of the day was computed before e-reports existed, so reprocess it; or one of its sums is too large, or it has too many VAT rates. `without_siren`: a till of the day states no valid SIRET.",
    example: "incomplete",
  }),
});

export type OpenDay = z.infer<typeof OpenDay>;

const Difference = object({
  day: field.date("The business day"),
  category: transactionCategory.nullable().describe("The category; null for payments"),
  taxRate: field.vatBasisPoints(),
  taxableAmount: field.computedAmount(
    "By how much the amount without VAT has changed; for payments, the received amount",
  ),
  taxTotal: field.computedAmount("By how much the VAT has changed; 0 for payments"),
});

export type EReportDifference = z.infer<typeof Difference>;

const periodShape = {
  siren,
  kind: eReportKind,
  period: field.date("First day of the period, which identifies it"),
  until: field.date("Last day of the period"),
  dueOn: field.date("Last day to send the report to the administration. It can also be taken later."),
  state: enumOf(stateDescriptions).meta({
    description: `State of the report. ${listDescriptions(stateDescriptions)}`,
    example: "ready",
  }),
  openDays: array(OpenDay).describe(
    "Days that are not closed, at most 100. A day without any till or live order is not known, and not listed.",
  ),
  lastTransmission: EReportTransmission.nullable().describe("The last file that was taken; null if none was"),
  changes: array(Difference).describe(
    "What has changed since the last file was taken, by day, category and VAT rate. Empty with the state `changed` if only the number of orders or `isVatOnDebits` has.",
  ),
};

const periodExample = {
  siren: "732829320",
  kind: "transactions" as const,
  period: "2027-09-01",
  until: "2027-09-10",
  dueOn: "2027-09-20",
  state: "ready" as const,
  openDays: [],
  lastTransmission: null,
  changes: [],
};

export const EReportPeriod = object(periodShape).meta({
  id: "EReportPeriod",
  description: "A period of e-reports: its bounds, its due date and its state",
  example: periodExample,
});

export type EReportPeriod = z.infer<typeof EReportPeriod>;

export const EReportPeriodList = object({
  data: array(EReportPeriod).describe("The periods, earliest first"),
}).meta({
  id: "EReportPeriodList",
  description: "The periods of a business",
  example: { data: [periodExample] },
});

const Source = object({
  locationId: field.uuid("ID of the location"),
  tillId: field.uuid("ID of the till"),
  reportId: field.uuid("ID of the report. `GET /v1/orders?reportId=` lists its orders."),
});

const TransactionsBlock = object({
  day: field.date("The business day"),
  currency: field.text("ISO 4217 code of the currency"),
  category: transactionCategory,
  taxExclusiveAmount: field.computedAmount("Sales without VAT"),
  taxTotal: field.computedAmount("VAT"),
  transactionsCount: field.count("Number of orders with sales in this category"),
  isVatOnDebits: field.boolean("Whether the VAT is due on debits, which only services can have"),
  taxSubtotals: array(
    object({
      taxRate: field.vatBasisPoints(),
      taxableAmount: field.computedAmount("Sales without VAT at this rate"),
      taxTotal: field.computedAmount("VAT at this rate"),
    }),
  ).describe("The sums by VAT rate, lowest rate first"),
  tills: array(Source).describe("The tills of the day"),
});

const PaymentsBlock = object({
  day: field.date("The business day"),
  currency: field.text("ISO 4217 code of the currency"),
  subtotals: array(
    object({
      taxRate: field.vatBasisPoints(),
      amount: field.computedAmount(
        "What was received for services at this rate, with VAT; negative if more was paid back",
      ),
    }),
  ).describe("What was received by VAT rate, lowest rate first"),
  tills: array(Source).describe("The tills of the day"),
});

export const EReport = object({
  ...periodShape,
  companyName: field.text("Name of the business"),
  transactions: array(TransactionsBlock).describe("Sales by day and category; empty for payments"),
  payments: array(PaymentsBlock).describe("What was received by day; empty for transactions"),
  notReported: object({
    otherSales: field.computedAmount(
      "Received for sales that are not reported as payments: other categories than `TPS1`, and services with VAT on debits",
    ),
    onAccount: field.computedAmount("Sold on account, and not received yet"),
    tips: field.computedAmount("Tips"),
    beyondTotal: field.computedAmount("What guests paid beyond the totals of their orders"),
    unsoldOrders: field.computedAmount("Received for canceled and transferred orders"),
    withoutVatRate: field.computedAmount("Received for orders without a product that has a price"),
    deposits: field.computedAmount("Deposits that were received before an order"),
    accountSettlements: field.computedAmount("Received for earlier sales on account"),
  })
    .nullable()
    .describe(
      "What was received or is owed, and is not part of this report of payments; null for transactions. The accountant decides whether VAT is due on deposits and on what was received for earlier sales.",
    ),
  otherLocationCount: field.count("Number of locations whose tills state the SIREN, and that the settings leave out"),
  excludedOrders: array(
    object({
      locationId: field.uuid("ID of the location"),
      orderId: field.uuid("ID of the order"),
      day: field.date("The business day"),
    }),
  ).describe("The orders of the period that are left out, because they have an invoice to a company"),
  checks: array(EReportCheck).describe("The rules of the administration, with their results"),
}).meta({
  id: "EReport",
  description: "The e-report of a period, with where its figures come from",
  example: {
    ...periodExample,
    companyName: "Chez Marcel SARL",
    transactions: [
      {
        day: "2027-09-01",
        currency: "EUR",
        category: "TPS1",
        taxExclusiveAmount: 127_273,
        taxTotal: 12_727,
        ...{ transactionsCount: 42, isVatOnDebits: false },
        taxSubtotals: [{ taxRate: 1000, taxableAmount: 127_273, taxTotal: 12_727 }],
        tills: [
          {
            locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
            tillId: "8a8d3a54-7b86-4d3e-a9f4-12f0f7b3f6d2",
            reportId: "dc0c0667-eb87-584d-8e25-b0b7f75fed3a",
          },
        ],
      },
    ],
    payments: [],
    notReported: null,
    otherLocationCount: 0,
    excludedOrders: [],
    checks: [
      {
        rule: "G1.53",
        description: "The totals of a block are the sums of its VAT rates.",
        ...{ result: "passed", checked: 1, difference: 0, findings: [] },
      },
    ],
  },
});

export type EReport = z.infer<typeof EReport>;
