import { isRowCountedAsSale } from "@pragma/contracts/order-rows";
import { describe, expect, it } from "vitest";
import { generateTill } from "./generate-till.ts";

/** Checks, for several seeds, that a till of 300 orders contains every special case. */
describe.each([1, 2, 3, "demo"])("a till of 300 orders of restaurant %s", (seed) => {
  const till = generateTill({ seed, orders: 300, day: "2026-05-29" });
  const orders = till.orderList;
  const soldOrders = orders.filter((order) => !order.isCanceled && !order.isTransferred && !order.isTraining);
  const menus = soldOrders.flatMap((order) => order.menuRowList);
  const standalone = soldOrders.flatMap((order) => order.productRowList);
  const rows = [...standalone, ...menus.flatMap((menu) => menu.productRowList)];
  const discounts = rows.flatMap((row) => row.discountRowList);
  const payments = soldOrders.flatMap((order) => order.paymentRowList);

  const expectSome = <Item>(items: readonly Item[], matches: (item: Item) => unknown) =>
    expect(items.some(matches)).toBe(true);
  const toSet = (items: Iterable<unknown>) => new Set(items);
  const isLater = (one: string | null, other: string | null) => one !== null && other !== null && one > other;

  it("has orders eaten in, taken out and delivered, in every type of room", () => {
    expect(toSet(orders.map((order) => order.serviceType))).toEqual(toSet(["eatin", "takeout", "delivery"]));
    expect(toSet(orders.map((order) => order.roomType))).toEqual(toSet(["room", "bar", "takeOut", "extOrder"]));
    expectSome(orders, (order) => order.serviceType === "delivery" && order.deliveryAddress && order.externalOrderId);
  });

  it("has orders with and without guests", () => {
    expectSome(orders, (order) => order.serviceType === "eatin" && order.guestsCount === 0);
    expectSome(orders, (order) => order.guestsCount > 4);
  });

  it("has modifiers, free and paid, on products and in menus, and weights", () => {
    expectSome(standalone, (row) => row.modifierRowList.some(({ amount }) => amount > 0));
    expectSome(standalone, (row) => row.modifierRowList.some(({ amount }) => amount === 0));
    expectSome(menus, (menu) => menu.productRowList.some((row) => row.modifierRowList.length > 0));
    expectSome(rows, (row) => row.weight !== null);
    expect(toSet(rows.map((row) => row.taxRate))).toEqual(toSet([5.5, 10, 20]));
  });

  it("has discounts on one product and on several products, settled and unsettled, and gifts", () => {
    expectSome(discounts, (discount) => discount.status === "validated" && discount.discountGroupId === null);
    expectSome(
      discounts,
      ({ discountGroupId: group }) => discounts.filter((it) => it.discountGroupId === group).length > 2,
    );
    expect(toSet(discounts.map(({ status }) => status))).toEqual(toSet(["validated", "pending", "cancelled"]));
    expectSome(rows, (row) => row.totalRow === 0 && row.quantity > 0 && isRowCountedAsSale(row));
  });

  it("has menus of several steps and VAT rates, some of them split over several bills", () => {
    expectSome(menus, (menu) => toSet(menu.productRowList.map((row) => row.menuStepName)).size === 3);
    expectSome(menus, (menu) => toSet(menu.productRowList.map((row) => row.taxRate)).size > 1);
    expectSome(menus, (menu) => menu.parentMenuRowId !== null);
    expectSome(standalone, (row) => row.parentProductRowId !== null);
    expectSome(standalone, (row) => row.parentProductRowId !== null && row.discountRowList.length > 0);
  });

  it("has rows canceled without a bill, before a bill and after a bill: single rows, rows in menus, and whole menus", () => {
    const canceled = soldOrders.flatMap((order) =>
      order.productRowList.filter((row) => row.isCanceled).map((row) => ({ order, row })),
    );
    expectSome(canceled, ({ order }) => order.firstBillPrintDate === null);
    expectSome(canceled, ({ order, row }) => isLater(order.firstBillPrintDate, row.modifiedAt));
    expectSome(canceled, ({ order, row }) => isLater(row.modifiedAt, order.firstBillPrintDate));
    expectSome(
      menus,
      (menu) => menu.productRowList.some(isRowCountedAsSale) && menu.productRowList.some((row) => row.isCanceled),
    );
    expectSome(menus, (menu) => menu.productRowList.every((row) => row.isCanceled));
  });

  it("has transferred, lost, returned and merged rows", () => {
    expectSome(rows, (row) => row.isTransferred && row.transferredTo);
    expectSome(standalone, (row) => row.isLoss && row.lossReason);
    expectSome(menus, (menu) => menu.productRowList.some((row) => row.isLoss));
    expectSome(soldOrders, (order) => order.total > 0 && order.productRowList.some((row) => row.quantity < 0));
    expectSome(soldOrders, (order) => order.isMerged && order.groupedTableInfo.length > 1);
    expectSome(rows, (row) => row.isMerged);
  });

  it("has orders canceled without a bill, before a bill, after a bill, and after payment", () => {
    const canceled = orders.filter((order) => order.isCanceled);
    expectSome(canceled, (order) => order.firstBillPrintDate === null);
    expectSome(canceled, (order) => isLater(order.firstBillPrintDate, order.canceledAt));
    expectSome(canceled, (order) => isLater(order.canceledAt, order.firstBillPrintDate));
    expectSome(canceled, (order) => order.paymentRowList.some(({ status }) => status === "validated"));
  });

  it("has transferred and training orders, refunds left open and paid back, and orders closed by hand", () => {
    expectSome(orders, (order) => order.isTransferred && order.transferredTo);
    expectSome(orders, (order) => order.isTraining);
    expectSome(soldOrders, (order) => order.total < 0 && order.manuallyClosed && order.leftToPay === order.total);
    expectSome(soldOrders, (order) => order.total < 0 && order.isPaid && order.leftToPay === 0);
    expectSome(soldOrders, (order) => order.total === 0 && order.manuallyClosed && order.totalDiscount > 0);
  });

  it("is paid in parts, with change, tips, on account, and with payments that were not settled", () => {
    expectSome(soldOrders, (order) => order.paymentRowList.filter(({ status }) => status === "validated").length > 2);
    expectSome(payments, (payment) => payment.changeAmount > 0 && payment.changePaymentMode === "cash");
    expectSome(payments, (payment) => (payment.tipAmount ?? 0) > 0);
    expectSome(payments, (payment) => payment.paymentType === "tip");
    expectSome(payments, (payment) => payment.paymentType === "customerAccount" && payment.firebaseCustomerRefKey);
    expectSome(payments, (payment) => payment.paymentMode === "debt" && payment.paymentType === "payment");
    expectSome(payments, (payment) => payment.paymentMode === "deposit");
    expect(toSet(payments.map(({ status }) => status))).toEqual(toSet(["validated", "pending", "cancelled"]));
    expectSome(soldOrders, (order) => order.leftToPay > 0 && !order.isPaid);
  });

  it("has several clerks, one of them with two shifts, and some who do not clock out", () => {
    const shifts = till.clerkShiftList;
    const clerks = toSet(shifts.map(({ id }) => id));
    expect(clerks.size).toBeGreaterThan(3);
    expect(shifts.length).toBeGreaterThan(clerks.size);
    expectSome(shifts, (shift) => shift.clockOutDate === null);
    expect(toSet(orders.map((order) => order.operatorId))).toEqual(clerks);
    expectSome(soldOrders, (order) => order.paymentRowList.some((payment) => payment.operatorId !== order.operatorId));
    expectSome(soldOrders, (order) => !worksAt(order.operatorId, order.openedAt));
  });

  function worksAt(clerkId: string | null, instant: string): boolean {
    return till.clerkShiftList.some(
      ({ id, clockInDate, clockOutDate }) =>
        id === clerkId && (clockInDate ?? "") <= instant && (clockOutDate === null || instant < clockOutDate),
    );
  }

  it("has declared payments and cash movements of every type", () => {
    expect(till.declaredPaymentList.length).toBeGreaterThan(5);
    expect(toSet(till.financialMovementList.map(({ type }) => type))).toEqual(
      toSet(["deposit", "customerAccount", "cash-in", "cash-out"]),
    );
  });
});
