import {
  type BulkExportColumn,
  type BulkExportData,
  type BulkExportValue,
  bulkExportSums,
  listBulkExportColumns,
} from "@pragma/contracts/bulk-export-columns";
import type { BulkExportFormat } from "@pragma/contracts/bulk-export";
import { addMoneyAmounts } from "@pragma/contracts/money";
import { markWorkerOutputForTransfer } from "@pragma/runtime/concurrency/worker-pool";
import { buildExportRows, type ExportedTillPlace } from "./export-rows.ts";
import {
  type EncodedParquetRowGroup,
  encodeParquetFooter,
  encodeParquetRowGroup,
  type ParquetFooterInput,
} from "./encode-parquet.ts";

/** Documents of one till: its report for `reports` and `taxes`, and some of its orders otherwise. */
export interface ExportRowsInput {
  task: "rows";
  data: BulkExportData;
  format: BulkExportFormat;
  place: ExportedTillPlace;
  currencyCode: string | null;
  /** The V2 responses, as JSON. */
  documents: Uint8Array[];
}

export interface EncodedExportRows {
  /** Lines of the file. For Parquet, one JSON array with the values of each row per line. */
  lines: Uint8Array;
  rows: number;
  sums: Record<string, number>;
}

interface ParquetRowGroupInput {
  task: "row group";
  data: BulkExportData;
  /** Lines of `EncodedExportRows`. */
  lines: Uint8Array;
  /** The position in the file at which the row group begins. */
  offset: number;
}

export type ExportWorkerInput = ExportRowsInput | ParquetRowGroupInput | (ParquetFooterInput & { task: "footer" });
export type ExportWorkerOutput = EncodedExportRows | EncodedParquetRowGroup | Uint8Array;

/** Runs in a worker thread, because parsing and formatting large orders would block the event loop. */
export default function encodeExport(input: ExportWorkerInput): ExportWorkerOutput {
  if (input.task === "rows") {
    const encoded = encodeExportRows(input);
    return markWorkerOutputForTransfer(encoded, [encoded.lines.buffer as ArrayBuffer]);
  }
  if (input.task === "row group") return encodeParquetRowGroup(input.data, parseLines(input.lines), input.offset);
  return encodeParquetFooter(input);
}

/** Returns the first line of a CSV file. */
export function encodeCsvHeader(data: BulkExportData): Uint8Array {
  return Buffer.from(`${listBulkExportColumns(data)
    .map(({ name }) => name)
    .join(",")}\r\n`);
}

/**
 * Returns the lines and the sums of the rows of some documents.
 *
 * @throws `AmountOutOfRangeError` if a sum is not a safe integer.
 */
export function encodeExportRows({
  data,
  format,
  place,
  currencyCode,
  documents,
}: Omit<ExportRowsInput, "task">): EncodedExportRows {
  const columns = listBulkExportColumns(data);
  const { countedBy, columns: summedColumns } = bulkExportSums[data];
  const sums: Record<string, number> = Object.fromEntries(summedColumns.map((column) => [column, 0]));
  // Each element of `buildExportRows` accepts the documents that belong to its data.
  const buildRows = buildExportRows[data] as (
    document: unknown,
    context: { place: ExportedTillPlace; currencyCode: string | null },
  ) => Record<string, BulkExportValue>[];
  const isNested = format === "jsonl" && (data === "reports" || data === "orders");
  const parts: (string | Uint8Array)[] = [];
  let rowCount = 0;
  for (const document of documents) {
    const rows = buildRows(JSON.parse(Buffer.from(document.buffer, document.byteOffset, document.byteLength).toString()), {
      place,
      currencyCode,
    });
    rowCount += rows.length;
    for (const row of rows) {
      if (countedBy === null || row[countedBy] === true)
        for (const column of summedColumns) sums[column] = addMoneyAmounts(sums[column] ?? 0, Number(row[column] ?? 0));
      if (!isNested) parts.push(formatRow(row, columns, format));
    }
    // Reports and orders are the responses of the API, unchanged.
    if (isNested) parts.push(document, "\n");
  }
  const bytes = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
  // A copy in a buffer of its own, which can be transferred.
  return { lines: new Uint8Array(bytes), rows: rowCount, sums };
}

function formatRow(row: Record<string, BulkExportValue>, columns: BulkExportColumn[], format: BulkExportFormat): string {
  if (format === "jsonl") return `${JSON.stringify(row)}\n`;
  const values = columns.map(({ name }) => row[name] ?? null);
  return format === "csv" ? `${values.map(formatCsvCell).join(",")}\r\n` : `${JSON.stringify(values)}\n`;
}

/** Matches texts that spreadsheet programs would interpret as formulas. */
const formulaStart = /^[=+\-@\t\r]/;

/**
 * Returns a value as a cell of a CSV file (RFC 4180). A text that a spreadsheet program would run as a formula begins with
 * an apostrophe. Null is an empty cell, and an empty text is two quotes.
 */
function formatCsvCell(value: BulkExportValue): string {
  if (value === null) return "";
  if (typeof value !== "string") return String(value);
  const text = formulaStart.test(value) ? `'${value}` : value;
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function parseLines(lines: Uint8Array): BulkExportValue[][] {
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength).toString();
  return JSON.parse(`[${text.trimEnd().replaceAll("\n", ",")}]`);
}
