import { array, object, z } from "zod";
import {
  accountingExportExample,
  accountingExportItemsExample,
  accountingExportListItemExample,
  startedAccountingExportExample,
} from "./examples/accounting.ts";
import { boundedArray, field } from "./fields.ts";

/** The accounting software for which export files can be formatted. */
export const accountingProviders = ["INEXWEB", "FULLL", "ISACOMPTA"] as const;

export type AccountingProvider = (typeof accountingProviders)[number];

const accountingProvider = z
  .enum(accountingProviders, `Must be one of: ${accountingProviders.join(", ")}`)
  .meta({ description: "Accounting software for which the file is formatted", example: "FULLL" });

/** The maximum number of tills in one export. It is sufficient for one till per day of a year. */
export const maxTillsPerAccountingExport = 500;

const AccountingExportItem = object({
  tillId: field.uuid("ID of the till. The till must belong to the location that `locationId` identifies."),
  accountingConfigId: field.uuid(
    "ID of the accounting config to apply. The config must belong to the location that `locationId` identifies.",
  ),
  accountingProvider,
  locationId: z.guid().optional().describe("ID of the till's location. Defaults to the API key's location."),
}).meta({
  id: "AccountingExportItem",
  description:
    "A till to export, with its location, the accounting config to apply, and the accounting software for the file",
  example: accountingExportItemsExample[0],
});

export const CreateAccountingExportRequest = boundedArray(AccountingExportItem, maxTillsPerAccountingExport, {
  min: 1,
}).meta({
  id: "CreateAccountingExport",
  description: `List of 1 to ${maxTillsPerAccountingExport} tills to export`,
  example: accountingExportItemsExample,
});

export type CreateAccountingExportRequest = z.infer<typeof CreateAccountingExportRequest>;

const exportId = field.uuid("ID of the accounting export");
const tillsIds = array(z.guid()).describe("IDs of the tills in the request, in the same sequence, without duplicates");

export const CreateAccountingExportResponse = object({ id: exportId, tillsIds }).meta({
  id: "StartedAccountingExport",
  description: "IDs of a new accounting export and of its tills",
  example: startedAccountingExportExample,
});

export type CreateAccountingExportResponse = z.infer<typeof CreateAccountingExportResponse>;

const inconsistentOrder = object({
  orderId: field.uuid("ID of the order"),
  openedAt: field.nullableDateTime("When the order was opened; null if unknown"),
  tableName: field.nullableText("Name of the table; null if the order has none"),
  total: field.nullableInteger("Total of the order in minor units; null if unknown"),
  amount: field.integer("First figure minus second figure of the order, in minor units"),
}).meta({ id: "InconsistentOrder", description: "An order whose figures differ" });

const inconsistentFiguresSchema = object({
  code: z.enum(["vat", "products", "payments"]).meta({
    description:
      "Kind of inconsistency. `vat`: for one VAT rate, the total of the products differs by more than one cent from the sum of their VAT and their sales excluding VAT. `products`: the total of the orders differs from the total of their products. `payments`: the total of the orders differs from the sum of the amounts paid and the amounts left to pay, minus what guests paid too much.",
  }),
  amount: field.integer("First figure minus second figure, in minor units (250 means 2.50 EUR)"),
  orderCount: field.count("Number of orders whose figures differ"),
  orders: array(inconsistentOrder).describe(
    "The 20 orders with the largest differences. Their differences can also cancel each other out.",
  ),
  message: field.text("Human-readable explanation of the difference, with both figures"),
});

export type InconsistentTillFigures = z.infer<typeof inconsistentFiguresSchema>;

const exportFailureSchema = object({
  code: z.enum(["no_report", "unbalanced", "too_large", "interrupted", "internal_error"]).meta({
    description:
      "Reason for the failure. `no_report`: the till was recorded in training mode, so it has no report. `unbalanced`: debits and credits would differ, as `gaps` explains. `too_large`: with this till, the files of the export would exceed 16 MB in total. Export fewer tills at once. `interrupted`: several attempts to run the export failed. Create the export again. `internal_error`: an unexpected error occurred in the service and was logged.",
  }),
  message: field.text("Human-readable explanation of the failure, with the day and the report number"),
  day: field.nullableDate("Business day of the till in the location's time zone; null if the till has no report"),
  reportNumber: z.int().min(1).nullable().meta({
    description: "Number of the till's report, assigned by the point of sale; null as `day` is",
  }),
  gaps: array(inconsistentFiguresSchema).describe(
    "Inconsistencies between the till's figures; empty unless `code` is `unbalanced`",
  ),
});

export type TillAccountingExportFailure = z.infer<typeof exportFailureSchema>;

const fileNumber = field.positiveInteger("Number of the file within the export, starting at 1");

const exportedTill = object({
  tillId: field.uuid("ID of the till"),
  reportId: field.nullableUuid("ID of the till's report; null if the till has none"),
  accountingConfigId: field.uuid("ID of the accounting config applied to the till"),
  accountingProvider,
  locationId: field.uuid("ID of the till's location"),
  state: z.enum(["pending", "done", "failed"]).meta({
    description:
      "State of the till in the export. `pending`: not exported yet. `done`: written to a file. `failed`: not exported, for the reason in `failure`.",
  }),
  failure: exportFailureSchema
    .nullable()
    .describe("Reason why the till was not exported; null unless `state` is `failed`"),
  fileNumber: fileNumber
    .nullable()
    .describe("Number of the file that contains the till; null unless `state` is `done`"),
});

const exportedFile = object({
  number: fileNumber,
  locationId: field.uuid("ID of the location whose tills the file contains"),
  accountingConfigId: field.uuid("ID of the accounting config applied to the tills"),
  accountingProvider,
  name: field.text("Name under which the file is downloaded"),
  size: field.count("Size of the file in bytes"),
  tills: field.positiveInteger("Number of tills in the file"),
  entries: field.count("Number of journal entries in the file"),
  fileUrl: field.url("URL of the file. Downloading the file requires an API key that can read the export."),
});

export const AccountingExport = object({
  id: exportId,
  tillsIds,
  state: z.enum(["pending", "running", "done", "failed"]).meta({
    description:
      "State of the export. `pending`: the export has not started. `running`: the export is in progress. `done`: every till was exported. `failed`: at least one till was not exported. The files contain all other tills.",
  }),
  createdAt: field.dateTime("When the export was requested"),
  startedAt: field.nullableDateTime("When the export started; null if it has not started"),
  finishedAt: field.nullableDateTime("When the export ended; null if it has not ended"),
  tills: array(exportedTill).describe("Result for each till, in the same sequence as in the request"),
  files: array(exportedFile).describe(
    "Files of the export: one file for each combination of location, accounting config and provider that has exported tills. Empty until the export ends.",
  ),
}).meta({
  id: "AccountingExport",
  description: "An accounting export with its progress, the result for each till, and its files",
  example: accountingExportExample,
});

export type AccountingExport = z.infer<typeof AccountingExport>;

export const AccountingExportListItem = AccountingExport.pick({
  id: true,
  state: true,
  createdAt: true,
  startedAt: true,
  finishedAt: true,
})
  .extend({
    tillCount: field.count("Number of tills in the export. A till counts once for each config and provider."),
    failedTillCount: field.count("Number of tills that were not exported; 0 until the export ends"),
    fileCount: field.count("Number of files of the export; 0 until the export ends"),
    bytes: field.count("Total size of the files in bytes"),
  })
  .meta({
    id: "AccountingExportListItem",
    description: "An accounting export with the numbers of its tills and files",
    example: accountingExportListItemExample,
  });

export type AccountingExportListItem = z.infer<typeof AccountingExportListItem>;
