import { constants, crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import type { BulkExportFormat } from "@pragma/contracts/bulk-export";
import {
  type BulkExportColumn,
  type BulkExportData,
  type BulkExportValue,
  bulkExportSums,
  listBulkExportColumns,
} from "@pragma/contracts/bulk-export-columns";
import { addMoneyAmounts } from "@pragma/contracts/money";
import { formatCsvLine } from "@pragma/runtime/http/csv-line";
import { decodeDocuments, type StoredDocument, toText } from "../../documents/stored-documents.ts";
import { buildExportRows, type ExportedTill } from "./export-rows.ts";

/** Documents of one till: its report for `reports` and `taxes`, and some of its orders otherwise. */
export interface ExportRowsInput {
  data: BulkExportData;
  format: BulkExportFormat;
  till: ExportedTill;
  currencyCode: string | null;
  documents: StoredDocument[];
  /** The CRC-32 of the text before in the file; undefined at its beginning. */
  checksum: number | undefined;
  maxDocumentBytes: number;
}

export interface EncodedExportRows {
  /**
   * Lines of the file, compressed with DEFLATE so that they can be joined to what comes before. For Parquet, one JSON
   * array with the values of each row per line, compressed by itself.
   */
  lines: Uint8Array;
  textBytes: number;
  /** The CRC-32 of the text of the file up to the end of these lines. */
  checksum: number;
  rows: number;
  sums: Record<string, number>;
}

/**
 * Returns the lines and the sums of the rows of some documents.
 *
 * @throws `AmountOutOfRangeError` if a sum is not a safe integer; `DocumentTooLargeError`.
 */
export function encodeExportRows(input: ExportRowsInput): EncodedExportRows {
  const { data, format, till, currencyCode, documents, checksum, maxDocumentBytes } = input;
  const columns = listBulkExportColumns(data);
  const { countedBy, columns: summedColumns } = bulkExportSums[data];
  const sums: Record<string, number> = Object.fromEntries(summedColumns.map((column) => [column, 0]));
  // Each element of `buildExportRows` accepts the documents that belong to its data.
  const buildRows = buildExportRows[data] as (
    document: unknown,
    context: { till: ExportedTill; currencyCode: string | null },
  ) => Record<string, BulkExportValue>[];
  const isNested = format === "jsonl" && (data === "reports" || data === "orders");
  let text = format === "csv" && checksum === undefined ? formatCsvLine(columns.map(({ name }) => name)) : "";
  let rowCount = 0;
  for (const document of decodeDocuments(documents, maxDocumentBytes)) {
    const rows = buildRows(JSON.parse(document), { till, currencyCode });
    rowCount += rows.length;
    for (const row of rows) {
      if (countedBy === null || row[countedBy] === true)
        for (const column of summedColumns) sums[column] = addMoneyAmounts(sums[column] ?? 0, Number(row[column] ?? 0));
      if (!isNested) text += formatRow(row, columns, format);
    }
    // Lines of reports and orders are the responses of the API, unchanged.
    if (isNested) text += `${document}\n`;
  }
  const bytes = Buffer.from(text);
  const encoded = { textBytes: bytes.byteLength, checksum: crc32(bytes, checksum ?? 0), rows: rowCount, sums };
  // A file without rows is not stored, so that its header need not be kept.
  if (format !== "parquet" && rowCount === 0) return { ...encoded, lines: new Uint8Array() };
  const lines = deflateRawSync(bytes, format === "parquet" ? { level: 1 } : { finishFlush: constants.Z_SYNC_FLUSH });
  return { ...encoded, lines };
}

function formatRow(
  row: Record<string, BulkExportValue>,
  columns: BulkExportColumn[],
  format: BulkExportFormat,
): string {
  const values = columns.map(({ name }) => row[name] ?? null);
  if (format === "csv") return formatCsvLine(values);
  const line =
    format === "jsonl" ? Object.fromEntries(columns.map(({ name }, index) => [name, values[index]])) : values;
  return `${JSON.stringify(line)}\n`;
}

/** Returns the values of the rows in `lines` for Parquet. */
export function parseParquetLines(lines: Uint8Array[]): BulkExportValue[][] {
  const rows: BulkExportValue[][] = [];
  for (const compressed of lines)
    for (const line of toText(inflateRawSync(compressed)).split("\n")) if (line !== "") rows.push(JSON.parse(line));
  return rows;
}
