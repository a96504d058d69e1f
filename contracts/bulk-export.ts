import { array, object, z } from "zod";
import {
  type BulkExportColumnType,
  type BulkExportData,
  bulkExportDataNames,
  bulkExportSums,
  listBulkExportColumns,
} from "./bulk-export-columns.ts";
import { countDays } from "./date-time.ts";
import { bulkExportExample, createBulkExportExample } from "./examples/bulk-export.ts";
import { field } from "./fields.ts";
import { checkSinceIsNotAfterUntil, dayQueryParameter } from "./pagination.ts";

/** The formats of the files, with the extensions of their names. */
export const bulkExportFileExtensions = { jsonl: "jsonl.gz", csv: "csv.gz", parquet: "parquet" } as const;

export type BulkExportFormat = keyof typeof bulkExportFileExtensions;

const bulkExportFormatNames = Object.keys(bulkExportFileExtensions) as [BulkExportFormat, ...BulkExportFormat[]];

/** The maximum number of days in one export: three years. */
export const maxBulkExportDays = 1_100;

/** For how many days an export and its files are kept after the export has ended. */
export const bulkExportKeptDays = 7;

const dataSchema = z.enum(bulkExportDataNames, `Must be one of: ${bulkExportDataNames.join(", ")}`).meta({
  description:
    "What the files contain, one row for each: report, order, product of an order (`items`), payment of an order, or tax of a report. `orders`, `items` and `payments` require the scope `orders:read`.",
  example: "items",
});

const formatSchema = z.enum(bulkExportFormatNames, `Must be one of: ${bulkExportFormatNames.join(", ")}`).meta({
  description:
    "Format of the files. `jsonl`: JSON lines, compressed with gzip. `csv`: comma-separated values, compressed with gzip. `parquet`: Apache Parquet with Snappy compression.",
  example: "csv",
});

export const CreateBulkExportRequest = object({
  data: dataSchema,
  format: formatSchema,
  since: dayQueryParameter.describe("First business day to export, as YYYY-MM-DD in the location's time zone"),
  until: dayQueryParameter.describe(
    `Last business day to export, as YYYY-MM-DD in the location's time zone. An export can contain up to ${maxBulkExportDays} days.`,
  ),
  locationId: z.guid().optional().meta({
    description:
      "ID of the location to export. Defaults to the API key's location. Any other location requires the scope `locations:any`.",
  }),
})
  .check(checkSinceIsNotAfterUntil, ({ value, issues }) => {
    if (countDays(value) <= maxBulkExportDays) return;
    const message = `Must be at most ${maxBulkExportDays} days from since to until. Create several exports instead`;
    issues.push({ code: "custom", path: ["until"], message, input: value.until, params: { code: "too_big" } });
  })
  .meta({
    id: "CreateExport",
    description: "The rows to export, the format of the files, and the range of business days",
    example: createBulkExportExample,
  });

export type CreateBulkExportRequest = z.infer<typeof CreateBulkExportRequest>;

const sumsDescription = bulkExportDataNames
  .map((data) => {
    const { countedBy, columns } = bulkExportSums[data];
    const rows = countedBy === null ? "" : ` over the rows with \`${countedBy}\``;
    return `\`${data}\`: ${columns.map((column) => `\`${column}\``).join(", ")}${rows}`;
  })
  .join("; ");

const sumsSchema = z.record(z.string(), z.int()).meta({
  description: `Sums of amounts in minor units (1400 means 14.00 EUR, or 1400 JPY), by column. ${sumsDescription}.`,
});

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

const fileSchema = object({
  name: field.text("Name of the file, unique within the export"),
  url: field.url("URL of the file, which supports range requests"),
  bytes: field.count("Size of the file in bytes, as it is downloaded"),
  rows: field.count("Number of rows in the file, without the header of a CSV file"),
  sha256: sha256Schema.describe("SHA-256 of the file as it is downloaded, in hexadecimal"),
  sums: sumsSchema,
  firstDay: field.date("First business day in the file"),
  lastDay: field.date("Last business day in the file"),
}).meta({ id: "ExportFile", description: "A file of an export", example: bulkExportExample.files[0] });

const manifestSchema = object({
  rows: field.count("Number of rows in all files"),
  reports: field.count("Number of reports that were read"),
  bytes: field.count("Total size of all files in bytes"),
  files: field.count("Number of files"),
  sums: sumsSchema,
  sha256: sha256Schema.describe(
    "SHA-256, in hexadecimal, of the hexadecimal SHA-256 of all files in their order, each followed by a line feed",
  ),
  currencyCode: z.string().nullable().meta({
    description:
      "ISO 4217 code of the location's currency, which rows without a currency of their own have; null if unknown",
    example: "EUR",
  }),
}).meta({
  id: "ExportManifest",
  description: "Counts, sums and hash of an export, with which you can check your copy",
  example: bulkExportExample.manifest,
});

export type BulkExportManifest = z.infer<typeof manifestSchema>;

const failureSchema = object({
  code: z.enum(["too_many_rows", "storage_limit", "data_unavailable", "internal_error", "personal_data_erased"]).meta({
    description:
      "Reason why the export has no files. `too_many_rows`: the export would exceed the maximum number of rows. Export fewer days at once. `storage_limit`: the files of the location's exports would exceed their maximum total size. Delete exports, or export fewer days at once. `data_unavailable`: reports or orders could not be read in several attempts. Create the export again. `internal_error`: an unexpected error occurred in the service and was logged. `personal_data_erased`: personal data was erased from a till whose rows the files contained. Create the export again.",
  }),
  message: field.text("Human-readable explanation"),
});

export type BulkExportFailure = z.infer<typeof failureSchema>;

export const BulkExport = object({
  id: field.uuid("ID of the export"),
  locationId: field.uuid("ID of the location"),
  data: dataSchema,
  format: formatSchema,
  since: field.date("First business day of the export"),
  until: field.date("Last business day of the export"),
  state: z.enum(["queued", "running", "done", "failed", "removed"]).meta({
    description:
      "State of the export. `queued`: it has not started, or starts again. `running`: it is in progress. `done`: all files and the manifest are available. `failed`: it has no files, for the reason in `failure`. `removed`: its files were removed before their expiry, for the reason in `failure`.",
  }),
  failure: failureSchema
    .nullable()
    .describe("Why the export has no files; null unless `state` is `failed` or `removed`"),
  progress: object({
    daysDone: field.count("Number of business days that were exported"),
    daysTotal: field.positiveInteger("Number of business days to export"),
    rows: field.count("Number of rows that were exported"),
  }).describe(
    "Progress of the export. If the service is interrupted, the export continues after its last complete file, so the numbers can decrease.",
  ),
  files: array(fileSchema).describe(
    "Files of the export, in the order of the business days. Empty until `state` is `done`, and if there are no rows.",
  ),
  manifest: manifestSchema.nullable().describe("Totals of all files; null unless `state` is `done`"),
  createdAt: field.dateTime("When the export was requested"),
  startedAt: field.nullableDateTime("When the export started; null if it has not started"),
  finishedAt: field.nullableDateTime("When the export ended; null if it has not ended"),
  expiresAt: field.nullableDateTime(
    `When the export and its files are deleted, ${bulkExportKeptDays} days after the export has ended; null if it has not ended`,
  ),
}).meta({ id: "Export", description: "An export with its progress, files and manifest", example: bulkExportExample });

export type BulkExport = z.infer<typeof BulkExport>;
export type BulkExportState = BulkExport["state"];

export const BulkExportListItem = BulkExport.omit({ files: true }).meta({
  id: "ExportListItem",
  description: "An export with its progress and manifest, without its files",
  example: (({ files: _, ...item }) => item)(bulkExportExample),
});

export type BulkExportListItem = z.infer<typeof BulkExportListItem>;

const formatColumnType: Record<BulkExportColumnType, string> = {
  text: "text",
  integer: "integer",
  amount: "amount in minor units",
  decimal: "number",
  boolean: "`true` or `false`",
  instant: "date-time in UTC",
  day: "day, YYYY-MM-DD",
};

const describeColumns = (data: BulkExportData) => `**\`${data}\`**

| Column | Type | Content |
|---|---|---|
${listBulkExportColumns(data)
  .map(({ name, type, description }) => `| \`${name}\` | ${formatColumnType[type]} | ${description} |`)
  .join("\n")}`;

/** The documentation of the columns of all files, in Markdown. */
export const bulkExportColumnsDescription = bulkExportDataNames.map(describeColumns).join("\n\n");
