import { z } from "zod";
import { UtcDateTime } from "./date-time.ts";
import {
  accountingExportExample,
  accountingExportItemsExample,
  startedAccountingExportExample,
} from "./examples/accounting.ts";
import { boundedArray } from "./fields.ts";

/** Accounting software that files are made for. */
export const accountingProviders = ["INEXWEB", "FULLL", "ISACOMPTA"] as const;

export type AccountingProvider = (typeof accountingProviders)[number];

const accountingProvider = z
  .enum(accountingProviders, { error: `Must be one of: ${accountingProviders.join(", ")}` })
  .meta({ description: "Accounting software that the file is for", example: "FULLL" });

/** Tills of one export at most: a year of days, and some. */
export const maxTillsPerExport = 500;

/** A till to export. */
const AccountingExportItem = z
  .object({
    tillId: z.guid().meta({ description: "The till, of the same location" }),
    accountingConfigId: z
      .guid()
      .meta({ description: "The config by which its report becomes entries, of the same location" }),
    accountingProvider,
    locationId: z.guid().optional().meta({ description: "The location; the key's own if left out" }),
  })
  .meta({ id: "AccountingExportItem", description: "A till to export", example: accountingExportItemsExample[0] });

/** What an export is to hold. */
export const CreateAccountingExport = boundedArray(AccountingExportItem, maxTillsPerExport, { min: 1 }).meta({
  id: "CreateAccountingExport",
  description: `The tills to export: 1 to ${maxTillsPerExport}`,
  example: accountingExportItemsExample,
});

export type CreateAccountingExport = z.infer<typeof CreateAccountingExport>;

const exportId = z.guid().meta({ description: "Id of the export" });
const tillsIds = z
  .array(z.guid())
  .meta({ description: "The tills that it is of, in the order in which they were named" });

/** An export that was asked for. */
export const StartedAccountingExport = z.object({ id: exportId, tillsIds }).meta({
  id: "StartedAccountingExport",
  description: "An export that was asked for",
  example: startedAccountingExportExample,
});

export type StartedAccountingExport = z.infer<typeof StartedAccountingExport>;

/** What two sides of a till can disagree in. */
const gapCodes = ["vat", "products", "payments"] as const;

const imbalanceSchema = z.object({
  code: z.enum(gapCodes).meta({
    description:
      "Which figures disagree. vat: products of a VAT rate, and their VAT and sales without VAT, by more than a cent. products: orders, and their products. payments: orders, and what is paid and left to pay",
  }),
  amount: z.int().meta({ description: "By how much, in minor units: 250 means 2.50" }),
  message: z.string().meta({ description: "The gap in words, with both figures" }),
});

export type AccountingImbalance = z.infer<typeof imbalanceSchema>;

/** Why a till is not in the files. */
const failureCodes = [
  "no_report",
  "outdated_report",
  "unbalanced",
  "too_large",
  "interrupted",
  "internal_error",
] as const;

const exportFailureSchema = z.object({
  code: z.enum(failureCodes).meta({
    description:
      "no_report: the till was made in school mode, or was since. outdated_report: its report lacks figures that exports need; have the till processed again. unbalanced: debit and credit would differ, by the gaps. too_large: it does not fit in the files, which have 16 MB in all; export it with fewer others. interrupted: what made the export died again and again. internal_error: a fault of ours, which we have noted",
  }),
  message: z.string().meta({ description: "The reason in words" }),
  gaps: z.array(imbalanceSchema).meta({ description: "What does not add up; empty unless the code is unbalanced" }),
});

export type AccountingExportFailure = z.infer<typeof exportFailureSchema>;

const fileNumber = z.int().min(1).meta({ description: "Number of the file in the export, from 1" });

const exportedTill = z.object({
  tillId: z.guid().meta({ description: "The till" }),
  accountingConfigId: z.guid().meta({ description: "The config that it is exported by" }),
  accountingProvider,
  locationId: z.guid().meta({ description: "The location" }),
  state: z.enum(["pending", "done", "failed"]).meta({ description: "Whether it is in its file" }),
  failure: exportFailureSchema.nullable().meta({ description: "Why it is not; null unless it has failed" }),
  fileNumber: fileNumber.nullable().meta({ description: "The file that it is in; null unless it is done" }),
});

const exportedFile = z.object({
  number: fileNumber,
  locationId: z.guid().meta({ description: "The location whose tills are in it" }),
  accountingConfigId: z.guid().meta({ description: "The config that it was made by" }),
  accountingProvider,
  name: z.string().meta({ description: "Name that the file is saved under" }),
  size: z.int().min(0).meta({ description: "In bytes" }),
  tills: z.int().min(1).meta({ description: "How many tills are in it" }),
  entries: z.int().min(0).meta({ description: "How many journal entries are in it" }),
  fileUrl: z.url().meta({ description: "Where it is read, with a key of the location" }),
});

/** An export: how far it is, what became of each till, and its files. */
export const AccountingExport = z
  .object({
    id: exportId,
    tillsIds,
    state: z.enum(["pending", "running", "done", "failed"]).meta({
      description:
        "pending: it will be made soon. running: it is being made. done: every till is in its file. failed: some till is not; the files hold the others",
    }),
    createdAt: UtcDateTime.meta({ description: "When it was asked for" }),
    startedAt: UtcDateTime.nullable().meta({ description: "When its making began; null while it has not" }),
    finishedAt: UtcDateTime.nullable().meta({ description: "When it was done or failed; null before" }),
    tills: z
      .array(exportedTill)
      .meta({ description: "What became of each till, in the order in which they were named" }),
    files: z.array(exportedFile).meta({
      description: "The files: one for each location, config and provider of which a till is done; none before",
    }),
  })
  .meta({
    id: "AccountingExport",
    description: "An export: how far it is, what became of each till, and its files",
    example: accountingExportExample,
  });

export type AccountingExport = z.infer<typeof AccountingExport>;
