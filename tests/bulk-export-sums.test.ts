import { gunzipSync } from "node:zlib";
import type { BulkExportFormat } from "@pragma/contracts/bulk-export";
import {
  type BulkExportData,
  bulkExportDataNames,
  bulkExportSums,
  listBulkExportColumns,
} from "@pragma/contracts/bulk-export-columns";
import { TillV2 } from "@pragma/contracts/till-v2";
import { type ComputedDocuments, computeDocuments } from "@pragma/reporting/calculation/compute-report";
import { generateTill } from "@pragma/simulator/generate-till";
import fc from "fast-check";
import { parquetReadObjects } from "hyparquet";
import { describe, expect, it } from "vitest";
import { computedTills, exportedLocationId, writeExportFile } from "./harness/bulk-export-file.ts";
import { parseCsv } from "./harness/parse-csv.ts";

type Row = Record<string, unknown>;

interface WrittenExport {
  rows: Row[];
  sums: Record<string, number>;
}

/** Writes the rows of tills to one file, and reads the file. */
async function exportTills(
  tills: ComputedDocuments[],
  options: { data: BulkExportData; format: BulkExportFormat },
): Promise<WrittenExport> {
  const { file, rows, sums } = writeExportFile(tills, options);
  // The service stores no file without rows.
  return { rows: rows === 0 ? [] : await readRows(file, options), sums };
}

async function readRows(
  file: Buffer,
  { data, format }: { data: BulkExportData; format: BulkExportFormat },
): Promise<Row[]> {
  if (format === "parquet") {
    const bytes = new Uint8Array(file);
    const rows = await parquetReadObjects({ file: bytes.buffer });
    return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? null])));
  }
  const text = gunzipSync(file).toString();
  if (format === "jsonl") return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  const [header, ...lines] = parseCsv(text);
  const columns = listBulkExportColumns(data);
  expect(header).toEqual(columns.map(({ name }) => name));
  return lines.map((cells) =>
    Object.fromEntries(
      columns.map(({ name, type }, index) => {
        const cell = cells[index] ?? null;
        if (cell === null || type === "text" || type === "instant" || type === "day") return [name, cell];
        return [name, type === "boolean" ? cell === "true" : Number(cell)];
      }),
    ),
  );
}

const sumBy = <T>(items: T[], amount: (item: T) => unknown) =>
  items.reduce((total, item) => total + Number(amount(item)), 0);

/** Returns the sum of each summed column over the rows that count. */
function sumRows(data: BulkExportData, rows: Row[]): Record<string, number> {
  const { countedBy, columns } = bulkExportSums[data];
  const counted = rows.filter((row) => countedBy === null || row[countedBy] === true);
  return Object.fromEntries(columns.map((column) => [column, sumBy(counted, (row) => row[column] ?? 0)]));
}

/** Returns the sums that the reports state, and checks that both formats of a report state the same. */
function sumReports(tills: ComputedDocuments[]) {
  const v2 = tills.map(({ reportV2 }) => reportV2);
  const v0 = tills.map(({ reportV0 }) => reportV0);
  const totals = {
    sales: sumBy(v2, ({ totalSales }) => totalSales),
    products: sumBy(v2, ({ reportProducts }) => sumBy(reportProducts, ({ productSales }) => productSales)),
    withoutTax: sumBy(v2, ({ reportTaxes }) => sumBy(reportTaxes, ({ taxableAmount }) => taxableAmount)),
    tax: sumBy(v2, ({ reportTaxes }) => sumBy(reportTaxes, ({ taxAmount }) => taxAmount)),
    rooms: sumBy(v2, ({ reportRooms }) => sumBy(reportRooms, ({ totalExcludingTax }) => totalExcludingTax)),
    paid: sumBy(v2, (report) => sumBy(report.reportRecordedPayments, ({ totalAmount }) => totalAmount)),
    change: sumBy(v2, (report) => sumBy(report.reportRecordedPayments, ({ changeAmount }) => changeAmount)),
    tips: sumBy(v2, (report) => sumBy(report.reportRecordedPayments, ({ tipsAmount }) => tipsAmount)),
  };
  expect(sumBy(v0, ({ totalSales }) => totalSales)).toBe(totals.sales);
  expect(sumBy(v0, ({ reportTaxes }) => sumBy(reportTaxes, ({ taxAmount }) => taxAmount))).toBe(totals.tax);
  expect(sumBy(v0, ({ reportProducts }) => sumBy(reportProducts, ({ productSales }) => productSales))).toBe(
    totals.products,
  );
  return totals;
}

describe("the sums of an export of any tills", () => {
  it("equal the sums of their reports to the cent, in every format", async () => {
    await fc.assert(
      fc.asyncProperty(computedTills, async (tills) => {
        const totals = sumReports(tills);
        const expected: Record<BulkExportData, Record<string, number>> = {
          reports: { totalSales: totals.sales, totalExcludingTax: totals.withoutTax, totalTax: totals.tax },
          taxes: { taxableAmount: totals.withoutTax, taxAmount: totals.tax },
          orders: expect.objectContaining({ total: totals.sales, totalWithoutTax: totals.rooms }),
          items: { totalRow: totals.products, taxableAmount: totals.withoutTax, taxAmount: totals.tax },
          payments: { amount: totals.paid, changeAmount: totals.change, tipAmount: totals.tips },
        };
        for (const data of bulkExportDataNames) {
          const byFormat: WrittenExport[] = [];
          for (const format of ["jsonl", "csv", "parquet"] as const) {
            const written = await exportTills(tills, { data, format });
            expect(written.sums, `${data} ${format}`).toEqual(expected[data]);
            // Lines of reports and orders are the responses of the API, which the last test compares.
            if (format === "jsonl" && (data === "reports" || data === "orders")) continue;
            expect(sumRows(data, written.rows), `${data} ${format}`).toEqual(written.sums);
            byFormat.push(written);
          }
          const [first, ...others] = byFormat.map(({ rows }) => rows.map((row) => toComparableRow(data, row)));
          for (const rows of others) expect(rows).toEqual(first);
        }
      }),
      { numRuns: 25 },
    );
  });

  it("are those of the lines of reports and orders", async () => {
    await fc.assert(
      fc.asyncProperty(computedTills, async (tills) => {
        const reports = await exportTills(tills, { data: "reports", format: "jsonl" });
        expect(reports.rows).toEqual(tills.map(({ reportV2 }) => JSON.parse(JSON.stringify(reportV2))));
        const orders = await exportTills(tills, { data: "orders", format: "jsonl" });
        expect(orders.rows).toEqual(
          tills.flatMap((till) => till.orders.map(({ v2 }) => JSON.parse(JSON.stringify(v2)))),
        );
      }),
      { numRuns: 5 },
    );
  });
});

/** Returns a row in the form that all formats have in common. */
function toComparableRow(data: BulkExportData, row: Row): Row {
  return Object.fromEntries(
    listBulkExportColumns(data).map(({ name, type }) => {
      const value = row[name] ?? null;
      if (value instanceof Date) return [name, type === "day" ? value.toISOString().slice(0, 10) : value.toISOString()];
      // In a CSV file, an apostrophe precedes texts that a spreadsheet program would run.
      if (type === "text" && typeof value === "string") return [name, value.replace(/^'(?=[=+\-@＝＋－＠\t\r\n])/, "")];
      return [name, typeof value === "bigint" ? Number(value) : value];
    }),
  );
}

describe("a CSV file", () => {
  it("keeps texts that a spreadsheet program would run as formulas from being run", async () => {
    const till = generateTill({ seed: 1, orders: 1, day: "2026-05-29" });
    const [computed] = [computeDocuments(TillV2.parse(till), { locationId: exportedLocationId })];
    const names = [
      '=HYPERLINK("http://x")',
      "+1",
      "-2+3",
      "@SUM(A1)",
      "\tx",
      "＝1",
      'a "quoted", text\r\nof two lines',
      "",
    ];
    const [order] = computed?.orders ?? [];
    const [row] = [
      ...(order?.v2.productRowList ?? []),
      ...(order?.v2.menuRowList.flatMap((m) => m.productRowList) ?? []),
    ];
    if (!computed || !order || !row) return expect.unreachable();
    const productRowList = names.map((name) => ({ ...row, name, totalRow: -5 }));
    const changed = { ...computed, orders: [{ ...order, v2: { ...order.v2, productRowList, menuRowList: [] } }] };
    const { rows } = await exportTills([changed], { data: "items", format: "csv" });
    expect(rows.map(({ name }) => name)).toEqual([
      ...['\'=HYPERLINK("http://x")', "'+1", "'-2+3", "'@SUM(A1)", "'\tx", "'＝1"],
      ...['a "quoted", text\r\nof two lines', ""],
    ]);
    expect(rows.map(({ totalRow }) => totalRow)).toEqual(names.map(() => -5));
  });
});
