import { array, object, strictObject, z } from "zod";
import { diningRoomTypes, orderServiceTypes } from "./enumerations.ts";
import { boundedArray, boundedString, enumOf, field, listDescriptions, requestBodySchema } from "./fields.ts";
import { findSirenFault } from "./siren.ts";

/** How often a business declares VAT, which determines its periods. */
const vatRegimeDescriptions = {
  monthly: "normal regime with monthly returns",
  quarterly: "normal regime with quarterly returns",
  simplified: "simplified regime",
  exempt: "small business without VAT (franchise en base)",
} as const;
export type VatRegime = keyof typeof vatRegimeDescriptions;

const kindDescriptions = {
  transactions: "sales to private customers by day, category and VAT rate (flux 10.3)",
  payments: "what was received for services by day and VAT rate (flux 10.4)",
} as const;
export type EReportKind = keyof typeof kindDescriptions;
export const eReportKinds = Object.keys(kindDescriptions) as [EReportKind, ...EReportKind[]];

/** Categories of the administration (rule G1.68), in the sequence of the blocks of a day. */
const categoryDescriptions = {
  TLB1: "supplies of goods, subject to VAT",
  TPS1: "services, subject to VAT",
  TNT1: "not subject to VAT in France",
  TMA1: "margin schemes",
} as const;
export type TransactionCategory = keyof typeof categoryDescriptions;
export const transactionCategories = Object.keys(categoryDescriptions) as [
  TransactionCategory,
  ...TransactionCategory[],
];

const vatRegime = enumOf(vatRegimeDescriptions).meta({
  description: `VAT regime of the business, which determines its periods: ${listDescriptions(vatRegimeDescriptions)}`,
  example: "monthly",
});
export const eReportKind = enumOf(kindDescriptions).meta({
  description: `What the report contains: ${listDescriptions(kindDescriptions)}`,
  example: "transactions",
});
const category = enumOf(categoryDescriptions).meta({
  description: `Category of the administration: ${listDescriptions(categoryDescriptions)}`,
  example: "TPS1",
});

const sirenDescription = "SIREN of the business: the first nine digits of the SIRET of its locations";
const siren = z.string().meta({ description: sirenDescription, example: "732829320" });

/** A SIREN in a request. The issue states what is wrong with it. */
export const sirenParameter = z
  .string()
  .superRefine((text, context) => {
    const fault = findSirenFault(text);
    if (fault) context.addIssue({ code: "custom", params: { code: "invalid_format" }, message: `A SIREN ${fault}` });
  })
  .meta({ description: sirenDescription, example: "732829320", pattern: "^\\d{9}$" });

const CategoryMapping = strictObject({
  serviceType: z.enum(orderServiceTypes).optional().describe("Only orders with this service type"),
  roomType: z.enum(diningRoomTypes).optional().describe("Only orders in rooms of this type"),
  taxRate: field.vatBasisPoints().optional().describe("Only sales at this VAT rate, in hundredths of a percent"),
  category,
}).meta({
  id: "EReportCategoryMapping",
  description: "Puts sales into a category. A field that is absent matches everything.",
  example: { serviceType: "delivery", category: "TLB1" },
});

export type CategoryMapping = z.infer<typeof CategoryMapping>;

/** A name in the file. XML cannot contain most control characters, and noncharacters. */
const fileName = () =>
  boundedString(150, { min: 1 }).refine(
    (name) => !/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/u.test(name) && name.trim() !== "",
    "Must have a visible character, and no control characters",
  );

const Platform = object({
  number: z
    .string()
    .regex(/^\d{4}$/, "Must have four digits")
    .meta({ description: "Number of the approved platform (matricule), four digits", example: "0123" }),
  name: fileName().meta({ description: "Name of the approved platform", example: "Plateforme SA" }),
}).describe("The approved platform (plateforme agréée) that sends the reports to the administration");

const declarantSettingsShape = {
  companyName: fileName().meta({ description: "Name of the business", example: "Chez Marcel SARL" }),
  vatRegime,
  vatOnDebitsSince: z.iso.date().nullable().default(null).meta({
    description:
      "First day from which VAT on services is due on debits (when it is invoiced, not when it is paid), if the business has chosen it; null otherwise. Payments are reported only for earlier days.",
    example: null,
  }),
  platform: Platform,
  defaultServiceType: z.enum(orderServiceTypes).exclude(["unknown"]).default("eatin").meta({
    description: "The service type of orders whose service type is `unknown`",
    example: "eatin",
  }),
  locationIds: boundedArray(z.guid(), 1_000, { min: 1 })
    .optional()
    .describe(
      "The locations of the business. Other locations whose tills state its SIREN are left out. Default: those that were set before, and at first those whose tills state the SIREN.",
    ),
  categories: boundedArray(CategoryMapping, 100).default([]).meta({
    description:
      "Which sales belong to which category. The first entry that matches decides. Sales that match none: `TNT1` at a VAT rate of 0, `TPS1` for the service type `eatin`, otherwise `TLB1`. An order with the service type `unknown` also matches entries for `defaultServiceType`. `TMA1` needs an entry.",
  }),
};

export const PutDeclarantRequest = requestBodySchema(declarantSettingsShape).meta({
  id: "PutEReportDeclarant",
  description: "What a business has declared to the administration, and how its sales are put into categories",
  example: {
    companyName: "Chez Marcel SARL",
    vatRegime: "monthly",
    platform: { number: "0123", name: "Plateforme SA" },
  },
});

export type DeclarantSettings = z.output<typeof PutDeclarantRequest>;

export const Declarant = object({
  siren,
  ...object(declarantSettingsShape).shape,
  vatOnDebitsSince: field.nullableDate("First day from which VAT on services is due on debits; null if on payments"),
  defaultServiceType: z
    .enum(orderServiceTypes)
    .exclude(["unknown"])
    .describe("The service type of orders whose service type is `unknown`"),
  categories: array(CategoryMapping).describe(
    "Which sales belong to which category. The first entry that matches decides.",
  ),
  locationIds: array(z.guid()).describe("The locations of the business"),
  reportedLocationIds: array(z.guid()).describe(
    "Those of them whose tills state the SIREN: the locations that are reported",
  ),
  otherLocationCount: field.count(
    "Number of locations whose tills state the SIREN, and that the settings leave out. If one of them belongs to the business, add it to its `locationIds`.",
  ),
  createdAt: field.dateTime("When the settings were first stored"),
  updatedAt: field.dateTime("When the settings were last changed"),
}).meta({
  id: "EReportDeclarant",
  description: "A business that reports its sales to private customers, with its settings",
  example: {
    siren: "732829320",
    companyName: "Chez Marcel SARL",
    vatRegime: "monthly",
    vatOnDebitsSince: null,
    platform: { number: "0123", name: "Plateforme SA" },
    defaultServiceType: "eatin",
    categories: [],
    locationIds: ["7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11"],
    reportedLocationIds: ["7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11"],
    otherLocationCount: 0,
    createdAt: "2027-08-20T09:00:00.000Z",
    updatedAt: "2027-08-20T09:00:00.000Z",
  },
});

export type Declarant = z.infer<typeof Declarant>;

const WrongSiret = object({
  locationId: field.uuid("ID of the location"),
  siret: field.text("The SIRET as tills state it"),
  fault: field.text("What is wrong with it"),
  lastDay: field.date("The last business day with a till that states it"),
}).meta({
  id: "WrongSiret",
  description: "A SIRET that tills of a location state, and that is wrong",
  example: {
    locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
    siret: "73282932000075",
    fault: "The SIRET has a wrong check digit: one of its digits is wrong",
    lastDay: "2027-09-01",
  },
});

export const WrongSiretList = object({ data: array(WrongSiret).describe("The wrong SIRETs, latest day first") }).meta({
  id: "WrongSiretList",
  description: "SIRETs of tills that are wrong",
  example: {
    data: [
      {
        ...{ locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11", siret: "73282932000075", lastDay: "2027-09-01" },
        fault: "The SIRET has a wrong check digit: one of its digits is wrong",
      },
    ],
  },
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
  category: category.nullable().describe("The category; null for payments"),
  taxRate: field.vatBasisPoints(),
  taxableAmount: field.computedAmount(
    "By how much the amount without VAT has changed; for payments, the received amount",
  ),
  taxTotal: field.computedAmount("By how much the VAT has changed; 0 for payments"),
});

export type EReportDifference = z.infer<typeof Difference>;

const transmissionExample = {
  number: 1,
  id: "732829320-T-20270901-1",
  type: "IN" as const,
  takenAt: "2027-09-11T08:00:00.000Z",
  sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  bytes: 4_512,
  href: "http://127.0.0.1:4000/v1/e-reports/732829320/transactions/2027-09-01/transmissions/1",
};

const TransmissionSummary = object({
  number: field.positiveInteger("Number of the transmission in its period, from 1"),
  id: field.text("ID of the transmission in the file, unique by period and SIREN"),
  type: z
    .enum(["IN", "RE"])
    .describe("`IN`: the first of its period. `RE`: replaces everything that was sent for the period."),
  takenAt: field.dateTime("When the file was taken"),
  sha256: field.text("SHA-256 hash of the file, in hexadecimal"),
  bytes: field.count("Size of the file in bytes"),
  href: field.url("URL of the file"),
}).meta({
  id: "EReportTransmission",
  description: "A file as it was taken. It never changes.",
  example: transmissionExample,
});

export const EReportTransmission = TransmissionSummary;
export const EReportTransmissionList = object({
  data: array(TransmissionSummary).describe("The files, latest first"),
}).meta({
  id: "EReportTransmissionList",
  description: "The files of a period that were taken",
  example: { data: [transmissionExample] },
});
export type EReportTransmission = z.infer<typeof EReportTransmission>;

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
  lastTransmission: TransmissionSummary.nullable().describe("The last file that was taken; null if none was"),
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
  category,
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

const checkResults = ["passed", "failed", "not_applicable", "not_checked"] as const;

export const EReportCheck = object({
  rule: field.text("Number of the rule in the external specifications, annex 7, such as `G1.53`"),
  description: field.text("What the rule requires"),
  result: z.enum(checkResults).meta({
    description:
      "`failed`: the report cannot be taken. `not_applicable`: the report has no figures to which the rule applies. `not_checked`: only the administration can check this rule.",
    example: "passed",
  }),
  checked: field.count("How many figures were checked"),
  difference: z.int().nullable().meta({
    description: "The largest difference in minor units, for rules about sums; null for others",
    example: 0,
  }),
  findings: array(z.string()).describe("What does not comply, at most the first 20"),
});

export type EReportCheck = z.infer<typeof EReportCheck>;

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

export const TakeEReportRequest = requestBodySchema({
  acceptsIncompleteDays: field.falseByDefault(
    "Takes the report although business days of the period are `incomplete`, for example because a report number was never used",
  ),
}).meta({
  id: "TakeEReport",
  description: "What is accepted",
  example: { acceptsIncompleteDays: false },
});

const maxExcludedOrders = 1_000;

export const ExcludeOrdersRequest = requestBodySchema({
  locationId: z
    .guid()
    .optional()
    .describe("ID of the location of the orders. Default: the location of the key. Required if it has none."),
  orderIds: boundedArray(field.uuid("ID of an order"), maxExcludedOrders, { min: 1 }).describe(
    "IDs of orders with an invoice to a company, which are no sales to private customers",
  ),
}).meta({
  id: "ExcludeOrders",
  description: "Orders that e-reports leave out",
  example: { orderIds: ["80b26815-3b1c-4b7e-9b3e-6f1f6c0f4d21"] },
});

export const NewlyExcludedOrders = object({
  newlyExcludedOrderIds: array(field.uuid("ID of an order")).describe("The orders that were not excluded before"),
  unknownOrderIds: array(field.uuid("ID of an order")).describe(
    "Orders that no till of the location contains, at least not yet. They are left out when such a till is pushed.",
  ),
}).meta({
  id: "NewlyExcludedOrders",
  description: "The result of an exclusion of orders",
  example: { newlyExcludedOrderIds: ["80b26815-3b1c-4b7e-9b3e-6f1f6c0f4d21"], unknownOrderIds: [] },
});

export const ExcludedOrder = object({
  locationId: field.uuid("ID of the location"),
  orderId: field.uuid("ID of the order"),
  excludedAt: field.dateTime("When the order was excluded"),
}).meta({
  id: "ExcludedOrder",
  description: "An order that e-reports leave out",
  example: {
    locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
    orderId: "80b26815-3b1c-4b7e-9b3e-6f1f6c0f4d21",
    excludedAt: "2027-09-12T08:00:00.000Z",
  },
});

export type ExcludedOrder = z.infer<typeof ExcludedOrder>;

const kindDigits: Record<EReportKind, string> = { transactions: "1", payments: "2" };

/** What identifies an e-report. */
export interface EReportKey {
  siren: string;
  kind: EReportKind;
  /** The first day of the period. */
  period: string;
}

/**
 * Returns the ID of an e-report in the change feed, whose IDs are UUIDs. It is a UUID of version 8, whose digits are the
 * SIREN, a digit for the kind, and the date, so that the URL of the e-report follows from it.
 */
export function buildEReportId({ siren, kind, period }: EReportKey): string {
  return `${siren.slice(0, 8)}-${siren.slice(8)}000-8000-8${kindDigits[kind].padStart(3, "0")}-0000${period.replaceAll("-", "")}`;
}

/** Returns what the ID identifies. @throws Error if `buildEReportId` does not return such IDs */
export function parseEReportId(id: string): EReportKey {
  const [, first, last, digit, year, month, day] =
    /^(\d{8})-(\d)000-8000-800(\d)-0000(\d{4})(\d\d)(\d\d)$/.exec(id) ?? [];
  const kind = eReportKinds.find((each) => kindDigits[each] === digit);
  if (first === undefined || kind === undefined) throw new Error(`${id} is no ID of an e-report.`);
  return { siren: `${first}${last}`, kind, period: `${year}-${month}-${day}` };
}
