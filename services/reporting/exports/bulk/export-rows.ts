import type { BulkExportData, BulkExportRow } from "@pragma/contracts/bulk-export-columns";
import { percentToBasisPoints } from "@pragma/contracts/money";
import type { OrderV2 } from "@pragma/contracts/order-data";
import { flattenOrderProductRows, isRowCountedAsSale } from "@pragma/contracts/order-row-rules";
import type { PosOrderProductRow } from "@pragma/contracts/order-rows";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { sum } from "../../calculation/groups.ts";

/** The values that all rows of a till have in common. */
export interface ExportedTill {
  locationId: string;
  /** YYYY-MM-DD in the location's time zone. */
  businessDay: string;
  reportId: string;
  tillId: string;
}

interface RowContext {
  till: ExportedTill;
  /** The currency of rows without a currency of their own; null if unknown. */
  currencyCode: string | null;
}

/**
 * Returns the rows of one document: of a report for `reports` and `taxes`, and of an order otherwise. A row can have more
 * fields than its data has columns.
 */
export const buildExportRows: {
  [Data in BulkExportData]: (document: DocumentOf<Data>, context: RowContext) => BulkExportRow<Data>[];
} = {
  reports: (report, context) => [buildReportRow(report, context)],
  taxes: buildTaxRows,
  orders: (order, context) => [buildOrderRow(order, context)],
  items: buildItemRows,
  payments: buildPaymentRows,
};

type DocumentOf<Data extends BulkExportData> = Data extends "reports" | "taxes" ? ReportV2 : OrderV2;

/** Returns whether the files contain rows of reports. Otherwise, they contain rows of orders. */
export function isExportOfReports(data: BulkExportData): boolean {
  return data === "reports" || data === "taxes";
}

function buildReportRow(report: ReportV2, { till, currencyCode }: RowContext): BulkExportRow<"reports"> {
  return {
    ...report,
    ...till,
    currencyCode,
    totalExcludingTax: sum(report.reportTaxes.map(({ taxableAmount }) => taxableAmount)),
    totalTax: sum(report.reportTaxes.map(({ taxAmount }) => taxAmount)),
  };
}

function buildTaxRows(report: ReportV2, { till, currencyCode }: RowContext): BulkExportRow<"taxes">[] {
  return report.reportTaxes.map((tax) => ({ ...report, ...tax, ...till, currencyCode }));
}

/** Returns whether an order counts toward total sales. Training orders are never stored. */
const isOrderCounted = ({ isCanceled, isTransferred }: OrderV2) => !isCanceled && !isTransferred;

function findOrderCurrency(order: OrderV2): string | null {
  const rows = [...flattenOrderProductRows(order), ...order.paymentRowList];
  const codes = new Set(rows.flatMap(({ currencyCode }) => currencyCode ?? []));
  return codes.size === 1 ? ([...codes][0] ?? null) : null;
}

function buildOrderRow(order: OrderV2, { till, currencyCode }: RowContext): BulkExportRow<"orders"> {
  return {
    ...order,
    ...till,
    orderId: order.id,
    currencyCode: findOrderCurrency(order) ?? currencyCode,
    isSale: isOrderCounted(order),
  };
}

function buildItemRows(order: OrderV2, { till, currencyCode }: RowContext): BulkExportRow<"items">[] {
  const toRow = (
    row: PosOrderProductRow,
    menu: { id: string | null; name: string | null },
  ): BulkExportRow<"items"> => ({
    ...row,
    ...till,
    orderId: order.id,
    orderOpenedAt: order.openedAt,
    rowId: row.id,
    menuRowId: menu.id,
    menuName: menu.name,
    currencyCode: row.currencyCode ?? currencyCode,
    taxRate: percentToBasisPoints(row.taxRate),
    isSale: isOrderCounted(order) && isRowCountedAsSale(row),
  });
  return [
    ...order.productRowList.map((row) => toRow(row, { id: null, name: null })),
    ...order.menuRowList.flatMap((menu) => menu.productRowList.map((row) => toRow(row, menu))),
  ];
}

function buildPaymentRows(order: OrderV2, { till, currencyCode }: RowContext): BulkExportRow<"payments">[] {
  return order.paymentRowList.map((payment) => ({
    ...payment,
    ...till,
    orderId: order.id,
    orderOpenedAt: order.openedAt,
    rowId: payment.id,
    isCounted: payment.status === "validated",
    currencyCode: payment.currencyCode ?? currencyCode,
  }));
}
