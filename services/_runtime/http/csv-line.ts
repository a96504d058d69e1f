import type { BulkExportValue } from "@pragma/contracts/bulk-export-columns";

/** Matches texts that spreadsheet programs would interpret as formulas. Some of them accept full-width signs. */
const formulaStart = /^[=+\-@＝＋－＠\t\r\n]/;

/** Returns a cell of a CSV file (RFC 4180). Null is empty, an empty text two quotes, and a formula gets a `'`. */
function formatCsvCell(value: BulkExportValue): string {
  if (value === null) return "";
  if (typeof value !== "string") return String(value);
  const text = formulaStart.test(value) ? `'${value}` : value;
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns values as a line of a CSV file. */
export const formatCsvLine = (values: readonly BulkExportValue[]): string =>
  `${values.map(formatCsvCell).join(",")}\r\n`;
