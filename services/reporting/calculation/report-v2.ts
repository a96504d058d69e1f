import { multiplyAmountOrThrow, percentToBasisPoints } from "@pragma/contracts/money";
import type { PosOrderData } from "@pragma/contracts/order-data";
import { flattenOrderProductRows, type PosOrderProductRow } from "@pragma/contracts/order-rows";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { groupCancellations } from "./cancellations.ts";
import { computeClerkShiftFigures } from "./clerk-shifts.ts";
import { groupSoldProductDiscounts } from "./discounts.ts";
import { cleanAggregates, groupByKey, raiseQuantityToMinOne, sum } from "./groups.ts";
import { groupProductSales } from "./products.ts";
import {
  getQuantityUnlessSplitChild,
  type ReportableOrder,
  type ReportableProductRow,
  type ReportableSetMenu,
} from "./reportable-orders.ts";

/** Returns the end-of-day report of a till that is not in training mode. */
export function computeReportV2(
  till: TillV2,
  orders: ReportableOrder[],
  identity: Pick<ReportV2, "id" | "locationId" | "reportVersion">,
): ReportV2 {
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
    guestsNumber: sum(sales.map((order) => order.guestsCount)),
    totalSales: sum(sales.map((order) => order.total)),
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

function groupRecordedPayments(orders: ReportableOrder[]): ReportV2["reportRecordedPayments"] {
  const payments = orders.flatMap((order) => order.payments);
  const groups = groupByKey(payments, ({ name, paymentMode, paymentType }) => [name, paymentMode, paymentType]);
  const aggregates = groups.map((group) => ({
    quantity: group.length,
    totalAmount: sum(group.map(({ amount }) => amount)),
    changeAmount: sum(group.map(({ changeAmount }) => changeAmount)),
    tipsAmount: sum(group.map(({ tipAmount }) => tipAmount ?? 0)),
    name: group[0].name,
    paymentMode: group[0].paymentMode,
    paymentType: group[0].paymentType,
  }));
  return cleanAggregates(aggregates, ({ totalAmount, changeAmount, tipsAmount }) => [
    totalAmount,
    changeAmount,
    tipsAmount,
  ]);
}

/**
 * Groups the modifiers of sold products by modifier group and name. Each adds the quantity of its row, and its amount for
 * each unit of the product.
 */
function groupModifiers(rows: ReportableProductRow[]): ReportV2["reportModifiers"] {
  const modifiers = rows.flatMap(({ row }) => row.modifierRowList.map((modifier) => ({ modifier, row })));
  const groups = groupByKey(modifiers, ({ modifier }) => [modifier.modifierGroupName, modifier.name]);
  const aggregates = groups.map((group) => ({
    quantity: sum(group.map(({ row }) => getQuantityUnlessSplitChild(row))),
    groupName: group[0].modifier.modifierGroupName,
    amount: sum(group.map(({ modifier, row }) => multiplyAmountOrThrow(modifier.amount, row.quantity))),
    name: group[0].modifier.name,
  }));
  return cleanAggregates(aggregates, ({ amount }) => [amount]);
}

/** Groups declared payments, which the point of sale totals itself, by name, mode and catalog id. */
function groupDeclaredPayments(payments: TillV2["declaredPaymentList"]): ReportV2["reportPayments"] {
  const groups = groupByKey(payments, ({ paymentName, paymentMode, paymentId }) => [
    paymentName,
    paymentMode,
    paymentId,
  ]);
  return groups.map((group) => ({
    paymentName: group[0].paymentName,
    paymentAmount: sum(group.map(({ paymentAmount }) => paymentAmount)),
    paymentMode: group[0].paymentMode,
    paymentCatalogId: group[0].paymentId,
  }));
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

function groupRooms(orders: PosOrderData[]): ReportV2["reportRooms"] {
  return groupByKey(orders, ({ roomName, roomType }) => [roomName, roomType]).map((group) => ({
    orderCount: group.length,
    guestCount: sum(group.map(({ guestsCount }) => guestsCount)),
    totalExcludingTax: sum(group.map(({ totalWithoutTax }) => totalWithoutTax)),
    totalWithGuest: sum(group.map(({ guestsCount, total }) => (guestsCount > 0 ? total : 0))),
    total: sum(group.map(({ total }) => total)),
    type: group[0].roomType,
    name: group[0].roomName,
  }));
}

/** Groups sold menus by catalog id and name, and counts the products chosen in each step. */
function aggregateSoldMenus(menus: ReportableSetMenu[]): ReportV2["reportMenus"] {
  const groups = groupByKey(menus, ({ menuRow }) => [menuRow.menuId, menuRow.name]);
  const aggregates = groups.map((group) => {
    const rows = group.flatMap((menu) => menu.rows);
    const steps = groupByKey(rows, ({ menuStepName }) => [menuStepName]).sort(
      ([one], [other]) => (one.menuStepIndex ?? 0) - (other.menuStepIndex ?? 0),
    );
    return {
      name: group[0].menuRow.name,
      coursesDescription: steps.flatMap(([row]) => row.menuStepName ?? []).join(" + "),
      quantity: group.filter(({ menuRow }) => menuRow.parentMenuRowId === null).length,
      totalExcludingTax: sum(rows.map((row) => row.taxableAmount)),
      totalSales: sum(group.map(({ menuRow }) => menuRow.totalRow)),
      steps: steps.map((step) => ({
        stepName: step[0].menuStepName,
        quantity: countUnits(step),
        products: groupByKey(step, ({ name }) => [name]).map((product) => ({
          name: product[0].name,
          quantity: countUnits(product),
        })),
      })),
    };
  });
  return cleanAggregates(aggregates, ({ totalExcludingTax, totalSales }) => [totalExcludingTax, totalSales]);
}

function countUnits(rows: ReportableSetMenu["rows"]): number {
  return raiseQuantityToMinOne(sum(rows.map(getQuantityUnlessSplitChild)));
}

/** Groups sales by tax name and rate. The catalog id of a group is the catalog id of its first row. */
function groupTaxes(rows: ReportableProductRow[]): ReportV2["reportTaxes"] {
  return groupByKey(rows, ({ row }) => [row.taxName, percentToBasisPoints(row.taxRate)]).map((group) => ({
    taxName: group[0].row.taxName,
    taxRate: percentToBasisPoints(group[0].row.taxRate),
    taxAmount: sum(group.map(({ row }) => row.taxAmount)),
    taxableAmount: sum(group.map(({ row }) => row.taxableAmount)),
    taxCatalogId: group[0].row.taxId,
  }));
}

function groupTransfers(orders: ReportableOrder[]): ReportV2["reportTransferred"] {
  const transfers = orders.flatMap(({ order }) => listTransferredRows(order));
  const aggregates = groupByKey(transfers, ({ destination }) => [destination ?? ""]).map((group) => ({
    amount: sum(group.map(({ row }) => row.totalRow)),
    quantity: sum(group.map(({ row }) => row.quantity)),
    name: group[0].destination ?? "",
  }));
  return cleanAggregates(aggregates, ({ amount }) => [amount]);
}

/** Returns the transferred rows of an order; all if the order is transferred. Canceled orders and rows do not count. */
function listTransferredRows(order: PosOrderData): { row: PosOrderProductRow; destination: string | null }[] {
  if (order.isCanceled) return [];
  const rows = flattenOrderProductRows(order).filter((row) => !row.isCanceled);
  if (order.isTransferred) return rows.map((row) => ({ row, destination: order.transferredTo }));
  return rows.filter((row) => row.isTransferred).map((row) => ({ row, destination: row.transferredTo }));
}
