import { addMoneyAmounts, multiplyAmountOrThrow, percentToBasisPoints } from "@pragma/contracts/money";
import type { PosOrderData } from "@pragma/contracts/order-data";
import { flattenOrderProductRows, type PosOrderProductRow } from "@pragma/contracts/order-rows";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { AggregateMap, cleanAggregates } from "./aggregate-map.ts";
import { groupCancellations } from "./cancellations.ts";
import { computeClerkShiftFigures } from "./clerk-shifts.ts";
import { groupSoldProductDiscounts } from "./discounts.ts";
import { aggregateSoldMenus } from "./menus.ts";
import { groupProductSales } from "./products.ts";
import { getQuantityUnlessSplitChild, type ReportableOrder, type ReportableProductRow } from "./reportable-orders.ts";

/**
 * The fields of a report that the caller of `computeReportV2` provides. All other fields are computed from the till.
 */
export interface StoredReportKey {
  id: string;
  locationId: string;
  reportVersion: number;
}

/** Returns the end-of-day report of a till that is not in training mode. */
export function computeReportV2(till: TillV2, orders: ReportableOrder[], identity: StoredReportKey): ReportV2 {
  const sales = orders.filter(({ isSale }) => isSale).map(({ order }) => order);
  const rows = orders.flatMap((order) => order.rows);
  return {
    ...identity,
    tillId: till.id,
    startedAt: till.startedAt,
    finalizedAt: till.finalizedAt,
    deviceName: till.deviceName ?? "",
    deviceIdentifier: till.deviceIdentifier ?? "",
    reportNumber: till.reportNumber,
    guestsNumber: sales.reduce((sum, order) => addMoneyAmounts(sum, order.guestsCount), 0),
    totalSales: sales.reduce((sum, order) => addMoneyAmounts(sum, order.total), 0),
    clerkName: till.clerkName ?? "",
    clerkId: till.clerkId ?? "",
    initialCashBalance: till.initialCashBalance ?? 0,
    finalCashBalance: till.finalCashBalance ?? 0,
    orderCount: sales.length,
    establishmentName: till.establishmentName ?? "",
    siretCode: till.siretCode ?? "",
    customHeader: till.customHeader ?? "",
    customFooter: till.customFooter ?? "",
    companyName: till.companyName ?? "",
    phoneNumber: till.phoneNumber ?? "",
    website: till.website ?? "",
    locale: till.locale,
    address1: till.address1 ?? "",
    address2: till.address2,
    logoUrl: till.logoUrl,
    zipCode: till.zipCode ?? "",
    tvaCode: till.tvaCode ?? "",
    country: till.country ?? "",
    nafCode: till.nafCode ?? "",
    city: till.city ?? "",
    note: till.note,
    reportRecordedPayments: groupRecordedPayments(orders),
    reportCancellations: groupCancellations(orders),
    reportTransferred: groupTransfers(orders),
    reportModifiers: groupModifiers(rows),
    reportEntries: toReportEntries(till.financialMovementList),
    reportDiscounts: groupSoldProductDiscounts(rows),
    reportProducts: groupProductSales(rows),
    reportClerksShift: computeClerkShiftFigures(till.clerkShiftList, orders),
    reportPayments: groupDeclaredPayments(till.declaredPaymentList),
    reportRooms: groupRooms(sales),
    reportMenus: aggregateSoldMenus(orders.flatMap((order) => order.menus)),
    reportTaxes: groupTaxes(rows),
    orders: orders.map(({ order: { id, roomName, openedAt, closedAt, tableName, operatorName, total } }) => ({
      id,
      roomName,
      openedAt,
      closedAt,
      tableName,
      operatorName,
      total,
    })),
  };
}

/** Groups validated payments by name, mode and type. */
function groupRecordedPayments(orders: ReportableOrder[]): ReportV2["reportRecordedPayments"] {
  const groups = new AggregateMap<ReportV2["reportRecordedPayments"][number]>();
  for (const payment of orders.flatMap((order) => order.payments)) {
    const { name, paymentMode, paymentType } = payment;
    const group = groups.getOrCreate([name, paymentMode, paymentType], () => ({
      quantity: 0,
      totalAmount: 0,
      changeAmount: 0,
      tipsAmount: 0,
      name,
      paymentMode,
      paymentType,
    }));
    group.quantity += 1;
    group.totalAmount = addMoneyAmounts(group.totalAmount, payment.amount);
    group.changeAmount = addMoneyAmounts(group.changeAmount, payment.changeAmount);
    group.tipsAmount = addMoneyAmounts(group.tipsAmount, payment.tipAmount ?? 0);
  }
  return cleanAggregates(groups.values(), (group) => [group.totalAmount, group.changeAmount, group.tipsAmount]);
}

/**
 * Groups the modifiers of sold products by modifier group and name. Each modifier of a product row adds the row's
 * quantity (0 for a child row of a split bill), and the modifier's amount for each unit of the product.
 */
function groupModifiers(rows: ReportableProductRow[]): ReportV2["reportModifiers"] {
  const groups = new AggregateMap<ReportV2["reportModifiers"][number]>();
  for (const { row } of rows) {
    for (const { modifierGroupName: groupName, name, amount } of row.modifierRowList) {
      const group = groups.getOrCreate([groupName, name], () => ({ quantity: 0, groupName, amount: 0, name }));
      group.quantity = addMoneyAmounts(group.quantity, getQuantityUnlessSplitChild(row));
      group.amount = addMoneyAmounts(group.amount, multiplyAmountOrThrow(amount, row.quantity));
    }
  }
  return cleanAggregates(groups.values(), (group) => [group.amount]);
}

/** Groups declared payments, which the point of sale totals itself, by name, mode and catalog id. */
function groupDeclaredPayments(payments: TillV2["declaredPaymentList"]): ReportV2["reportPayments"] {
  const groups = new AggregateMap<ReportV2["reportPayments"][number]>();
  for (const { paymentName, paymentMode, paymentId, paymentAmount } of payments) {
    const group = groups.getOrCreate([paymentName, paymentMode, paymentId], () => ({
      paymentName,
      paymentAmount: 0,
      paymentMode,
      paymentCatalogId: paymentId,
    }));
    group.paymentAmount = addMoneyAmounts(group.paymentAmount, paymentAmount);
  }
  return groups.values();
}

function toReportEntries(movements: TillV2["financialMovementList"]): ReportV2["reportEntries"] {
  return movements.map(({ id, amount, name, type, ...rest }) => ({
    entryCatalogId: id,
    entryAmount: amount,
    entryName: name,
    entryType: type,
    ...rest,
  }));
}

/** Groups sales by the name and type of the room. */
function groupRooms(orders: PosOrderData[]): ReportV2["reportRooms"] {
  const groups = new AggregateMap<ReportV2["reportRooms"][number]>();
  for (const order of orders) {
    const group = groups.getOrCreate([order.roomName, order.roomType], () => ({
      orderCount: 0,
      guestCount: 0,
      totalExcludingTax: 0,
      totalWithGuest: 0,
      total: 0,
      type: order.roomType,
      name: order.roomName,
    }));
    group.orderCount += 1;
    group.guestCount = addMoneyAmounts(group.guestCount, order.guestsCount);
    group.total = addMoneyAmounts(group.total, order.total);
    group.totalExcludingTax = addMoneyAmounts(group.totalExcludingTax, order.totalWithoutTax);
    if (order.guestsCount > 0) group.totalWithGuest = addMoneyAmounts(group.totalWithGuest, order.total);
  }
  return groups.values();
}

/** Groups sales by tax name and rate. The catalog id of a group is the catalog id of its first row. */
function groupTaxes(rows: ReportableProductRow[]): ReportV2["reportTaxes"] {
  const groups = new AggregateMap<ReportV2["reportTaxes"][number]>();
  for (const { row } of rows) {
    const taxRate = percentToBasisPoints(row.taxRate);
    const group = groups.getOrCreate([row.taxName, taxRate], () => ({
      taxName: row.taxName,
      taxRate,
      taxAmount: 0,
      taxableAmount: 0,
      taxCatalogId: row.taxId,
    }));
    group.taxAmount = addMoneyAmounts(group.taxAmount, row.taxAmount);
    group.taxableAmount = addMoneyAmounts(group.taxableAmount, row.taxableAmount);
  }
  return groups.values();
}

type Transfer = ReportV2["reportTransferred"][number];

/** Groups transferred rows by destination. */
function groupTransfers(orders: ReportableOrder[]): Transfer[] {
  const groups = new AggregateMap<Transfer>();
  for (const { order } of orders) {
    for (const { row, destination } of listTransferredRows(order)) {
      const name = destination ?? "";
      const group = groups.getOrCreate([name], () => ({ amount: 0, quantity: 0, name }));
      group.quantity = addMoneyAmounts(group.quantity, row.quantity);
      group.amount = addMoneyAmounts(group.amount, row.totalRow);
    }
  }
  return cleanAggregates(groups.values(), (group) => [group.amount]);
}

/**
 * Returns the transferred rows of an order. If the order is transferred, returns all rows that are not canceled.
 * Canceled orders and rows do not count as transferred.
 */
function listTransferredRows(order: PosOrderData): { row: PosOrderProductRow; destination: string | null }[] {
  if (order.isCanceled) return [];
  const rows = flattenOrderProductRows(order).filter((row) => !row.isCanceled);
  if (order.isTransferred) return rows.map((row) => ({ row, destination: order.transferredTo }));
  return rows.filter((row) => row.isTransferred).map((row) => ({ row, destination: row.transferredTo }));
}
