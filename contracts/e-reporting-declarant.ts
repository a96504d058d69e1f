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
export const transactionCategory = enumOf(categoryDescriptions).meta({
  description: `Category of the administration: ${listDescriptions(categoryDescriptions)}`,
  example: "TPS1",
});

const sirenDescription = "SIREN of the business: the first nine digits of the SIRET of its locations";
export const siren = z.string().meta({ description: sirenDescription, example: "732829320" });

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
  category: transactionCategory,
}).meta({
  id: "EReportCategoryMapping",
  description: "Puts sales into a category. A field that is absent matches everything.",
  example: { serviceType: "delivery", category: "TLB1" },
});

export type CategoryMapping = z.infer<typeof CategoryMapping>;

/** A name in the file. XML cannot contain most control characters, and noncharacters. */
const fileName = () =>
  boundedString(150, { min: 1 }).refine(
    (name) => !/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/u.test(name) && /[\p{L}\p{N}]/u.test(name),
    "Must have a letter or digit, and no control characters",
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
  vatOnDebitsSince: z.iso.date().regex(/^20/, "Must be from 2000 to 2099").nullable().default(null).meta({
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
