import type { BulkExportData, BulkExportRow } from "@pragma/contracts/bulk-export-columns";
import { addMoneyAmounts, percentToBasisPoints } from "@pragma/contracts/money";
import type { OrderV2 } from "@pragma/contracts/order-data";
import { flattenOrderProductRows, isRowCountedAsSale } from "@pragma/contracts/order-row-rules";
import type { PosOrderProductRow } from "@pragma/contracts/order-rows";
import type { ReportV2 } from "@pragma/contracts/report-v2";

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

/** Returns the rows of one document: of a report for `reports` and `taxes`, and of an order otherwise. */
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
  const sumTaxes = (field: "taxableAmount" | "taxAmount") =>
    report.reportTaxes.reduce((sum, tax) => addMoneyAmounts(sum, tax[field]), 0);
  return {
    ...till,
    reportNumber: report.reportNumber,
    startedAt: report.startedAt,
    finalizedAt: report.finalizedAt,
    currencyCode,
    totalSales: report.totalSales,
    totalExcludingTax: sumTaxes("taxableAmount"),
    totalTax: sumTaxes("taxAmount"),
    orderCount: report.orderCount,
    guestsNumber: report.guestsNumber,
    initialCashBalance: report.initialCashBalance,
    finalCashBalance: report.finalCashBalance,
    clerkId: report.clerkId,
    clerkName: report.clerkName,
    deviceIdentifier: report.deviceIdentifier,
    deviceName: report.deviceName,
    reportVersion: report.reportVersion,
  };
}

function buildTaxRows(report: ReportV2, { till, currencyCode }: RowContext): BulkExportRow<"taxes">[] {
  return report.reportTaxes.map((tax) => ({
    ...till,
    reportNumber: report.reportNumber,
    startedAt: report.startedAt,
    taxName: tax.taxName,
    taxRate: tax.taxRate,
    taxCatalogId: tax.taxCatalogId,
    currencyCode,
    taxableAmount: tax.taxableAmount,
    taxAmount: tax.taxAmount,
  }));
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
    ...till,
    orderId: order.id,
    openedAt: order.openedAt,
    closedAt: order.closedAt,
    currencyCode: findOrderCurrency(order) ?? currencyCode,
    total: order.total,
    totalWithoutTax: order.totalWithoutTax,
    totalTax: order.totalTax,
    totalDiscount: order.totalDiscount,
    leftToPay: order.leftToPay,
    isSale: isOrderCounted(order),
    isPaid: order.isPaid,
    isCanceled: order.isCanceled,
    canceledReason: order.canceledReason,
    isTransferred: order.isTransferred,
    transferredTo: order.transferredTo,
    guestsCount: order.guestsCount,
    roomName: order.roomName,
    roomType: order.roomType,
    tableName: order.tableName,
    operatorId: order.operatorId,
    operatorName: order.operatorName,
    deviceIdentifier: order.deviceIdentifier,
    deviceName: order.deviceName,
    channel: order.channel,
    serviceType: order.serviceType,
    source: order.source,
    fiscalNumber: order.fiscalNumber,
    externalOrderId: order.externalOrderId,
  };
}

function buildItemRows(order: OrderV2, { till, currencyCode }: RowContext): BulkExportRow<"items">[] {
  const toRow = (
    row: PosOrderProductRow,
    menu: { id: string | null; name: string | null },
  ): BulkExportRow<"items"> => ({
    ...till,
    orderId: order.id,
    orderOpenedAt: order.openedAt,
    rowId: row.id,
    parentProductRowId: row.parentProductRowId,
    menuRowId: menu.id,
    menuName: menu.name,
    recordedAt: row.recordedAt,
    productId: row.productId,
    sku: row.sku,
    name: row.name,
    categoryName: row.categoryName,
    subCategoryName: row.subCategoryName,
    quantity: row.quantity,
    weight: row.weight,
    currencyCode: row.currencyCode ?? currencyCode,
    unitPriceRowWithModifier: row.unitPriceRowWithModifier,
    totalRowWithModifier: row.totalRowWithModifier,
    totalDiscount: row.totalDiscount,
    totalRow: row.totalRow,
    taxableAmount: row.taxableAmount,
    taxAmount: row.taxAmount,
    taxName: row.taxName,
    taxRate: percentToBasisPoints(row.taxRate),
    isSale: isOrderCounted(order) && isRowCountedAsSale(row),
    isCanceled: row.isCanceled,
    canceledReason: row.canceledReason,
    isTransferred: row.isTransferred,
    transferredTo: row.transferredTo,
    isLoss: row.isLoss,
    lossReason: row.lossReason,
    pricingName: row.pricingName,
    operatorId: row.operatorId,
    operatorName: row.operatorName,
  });
  return [
    ...order.productRowList.map((row) => toRow(row, { id: null, name: null })),
    ...order.menuRowList.flatMap((menu) => menu.productRowList.map((row) => toRow(row, menu))),
  ];
}

function buildPaymentRows(order: OrderV2, { till, currencyCode }: RowContext): BulkExportRow<"payments">[] {
  return order.paymentRowList.map((payment) => ({
    ...till,
    orderId: order.id,
    orderOpenedAt: order.openedAt,
    rowId: payment.id,
    recordedAt: payment.recordedAt,
    status: payment.status,
    isCounted: payment.status === "validated",
    paymentType: payment.paymentType,
    paymentMode: payment.paymentMode,
    name: payment.name,
    paymentId: payment.paymentId,
    currencyCode: payment.currencyCode ?? currencyCode,
    amount: payment.amount,
    changeAmount: payment.changeAmount,
    tipAmount: payment.tipAmount,
    operatorId: payment.operatorId,
    operatorName: payment.operatorName,
  }));
}
