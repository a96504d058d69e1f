import { hundredths, plus, times } from "@pragma/contracts/money";
import type { OrderData } from "@pragma/contracts/order-data";
import { allRows, type ProductRow } from "@pragma/contracts/order-rows";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { cancellations } from "./cancellations.ts";
import { clerkShifts } from "./clerk-shifts.ts";
import { type CountedOrder, type CountedRow, Groups, listed, unitsOf } from "./counting.ts";
import { discounts } from "./discounts.ts";
import { menus } from "./menus.ts";
import { products } from "./products.ts";

/** Where a report belongs and which calculation made it. */
export interface ReportIdentity {
  id: string;
  locationId: string;
  reportVersion: number;
}

/** The end-of-day report of a till that is not training, from its orders as they count. */
export function reportV2(till: TillV2, orders: CountedOrder[], identity: ReportIdentity): ReportV2 {
  const sales = orders.filter((counted) => counted.counts).map((counted) => counted.order);
  const rows = orders.flatMap((counted) => counted.rows);
  return {
    ...identity,
    tillId: till.id,
    startedAt: till.startedAt,
    finalizedAt: till.finalizedAt,
    deviceName: till.deviceName ?? "",
    deviceIdentifier: till.deviceIdentifier ?? "",
    reportNumber: till.reportNumber,
    guestsNumber: sales.reduce((sum, order) => plus(sum, order.guestsCount), 0),
    totalSales: sales.reduce((sum, order) => plus(sum, order.total), 0),
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
    reportRecordedPayments: recordedPayments(orders),
    reportCancellations: cancellations(orders),
    reportTransferred: transfers(orders),
    reportModifiers: modifiers(rows),
    reportEntries: entries(till.financialMovementList),
    reportDiscounts: discounts(rows),
    reportProducts: products(rows),
    reportClerksShift: clerkShifts(till.clerkShiftList, orders),
    reportPayments: declaredPayments(till.declaredPaymentList),
    reportRooms: rooms(sales),
    reportMenus: menus(orders.flatMap((counted) => counted.menus)),
    reportTaxes: taxes(rows),
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

/** Validated payments by name, mode and type. */
function recordedPayments(orders: CountedOrder[]): ReportV2["reportRecordedPayments"] {
  const groups = new Groups<ReportV2["reportRecordedPayments"][number]>();
  for (const payment of orders.flatMap((order) => order.payments)) {
    const { name, paymentMode, paymentType } = payment;
    const group = groups.of([name, paymentMode, paymentType], () => ({
      quantity: 0,
      totalAmount: 0,
      changeAmount: 0,
      tipsAmount: 0,
      name,
      paymentMode,
      paymentType,
    }));
    group.quantity += 1;
    group.totalAmount = plus(group.totalAmount, payment.amount);
    group.changeAmount = plus(group.changeAmount, payment.changeAmount);
    group.tipsAmount = plus(group.tipsAmount, payment.tipAmount ?? 0);
  }
  return listed(groups.all(), (group) => [group.totalAmount, group.changeAmount, group.tipsAmount]);
}

/** The modifiers of products sold, by group and name: how many products had them, and what they added to sales. */
function modifiers(rows: CountedRow[]): ReportV2["reportModifiers"] {
  const groups = new Groups<ReportV2["reportModifiers"][number]>();
  for (const { row } of rows) {
    for (const { modifierGroupName: groupName, name, amount } of row.modifierRowList) {
      const group = groups.of([groupName, name], () => ({ quantity: 0, groupName, amount: 0, name }));
      group.quantity = plus(group.quantity, unitsOf(row));
      group.amount = plus(group.amount, times(amount, row.quantity));
    }
  }
  return listed(groups.all(), (group) => [group.amount]);
}

/** The payments that the point of sale declares, by name, mode and catalogue id. */
function declaredPayments(payments: TillV2["declaredPaymentList"]): ReportV2["reportPayments"] {
  const groups = new Groups<ReportV2["reportPayments"][number]>();
  for (const { paymentName, paymentMode, paymentId, paymentAmount } of payments) {
    const group = groups.of([paymentName, paymentMode, paymentId], () => ({
      paymentName,
      paymentAmount: 0,
      paymentMode,
      paymentCatalogId: paymentId,
    }));
    group.paymentAmount = plus(group.paymentAmount, paymentAmount);
  }
  return groups.all();
}

/** The drawer's movements other than sales, one entry each. */
function entries(movements: TillV2["financialMovementList"]): ReportV2["reportEntries"] {
  return movements.map(({ id, amount, name, type, ...rest }) => ({
    entryCatalogId: id,
    entryAmount: amount,
    entryName: name,
    entryType: type,
    ...rest,
  }));
}

/** Orders that count, by name and type of their room. */
function rooms(orders: OrderData[]): ReportV2["reportRooms"] {
  const groups = new Groups<ReportV2["reportRooms"][number]>();
  for (const order of orders) {
    const group = groups.of([order.roomName, order.roomType], () => ({
      orderCount: 0,
      guestCount: 0,
      totalExcludingTax: 0,
      totalWithGuest: 0,
      total: 0,
      type: order.roomType,
      name: order.roomName,
    }));
    group.orderCount += 1;
    group.guestCount = plus(group.guestCount, order.guestsCount);
    group.total = plus(group.total, order.total);
    group.totalExcludingTax = plus(group.totalExcludingTax, order.totalWithoutTax);
    if (order.guestsCount > 0) group.totalWithGuest = plus(group.totalWithGuest, order.total);
  }
  return groups.all();
}

/** Sales by tax name and rate. The catalogue id is that of the group's first row. */
function taxes(rows: CountedRow[]): ReportV2["reportTaxes"] {
  const groups = new Groups<ReportV2["reportTaxes"][number]>();
  for (const { row } of rows) {
    const taxRate = hundredths(row.taxRate);
    const group = groups.of([row.taxName, taxRate], () => ({
      taxName: row.taxName,
      taxRate,
      taxAmount: 0,
      taxableAmount: 0,
      taxCatalogId: row.taxId,
    }));
    group.taxAmount = plus(group.taxAmount, row.taxAmount);
    group.taxableAmount = plus(group.taxableAmount, row.taxableAmount);
  }
  return groups.all();
}

type Transfer = ReportV2["reportTransferred"][number];

/** Transferred rows by where they went. */
function transfers(orders: CountedOrder[]): Transfer[] {
  const groups = new Groups<Transfer>();
  for (const { order } of orders) {
    for (const { row, destination } of transferredRows(order)) {
      const name = destination ?? "";
      const group = groups.of([name], () => ({ amount: 0, quantity: 0, name }));
      group.quantity = plus(group.quantity, row.quantity);
      group.amount = plus(group.amount, row.totalRow);
    }
  }
  return listed(groups.all(), (group) => [group.amount]);
}

/**
 * The transferred rows of an order: all of them when it is transferred itself, else those that are. What was canceled
 * went nowhere.
 */
function transferredRows(order: OrderData): { row: ProductRow; destination: string | null }[] {
  if (order.isCanceled) return [];
  const rows = allRows(order).filter((row) => !row.isCanceled);
  if (order.isTransferred) return rows.map((row) => ({ row, destination: order.transferredTo }));
  return rows.filter((row) => row.isTransferred).map((row) => ({ row, destination: row.transferredTo }));
}
