import { isSoldRow } from "@pragma/contracts/order-rows";
import { describe, expect, it } from "vitest";
import { generateTill } from "./generate-till.ts";

/** What a till of a few hundred orders must show, whatever its seed. */
describe.each([1, 2, 3, "demo"])("a till of 300 orders of restaurant %s", (seed) => {
  const till = generateTill({ seed, orders: 300, day: "2026-05-29" });
  const orders = till.orderList;
  const counting = orders.filter((order) => !order.isCanceled && !order.isTransferred && !order.isTraining);
  const menus = counting.flatMap((order) => order.menuRowList);
  const standalone = counting.flatMap((order) => order.productRowList);
  const rows = [...standalone, ...menus.flatMap((menu) => menu.productRowList)];
  const discounts = rows.flatMap((row) => row.discountRowList);
  const payments = counting.flatMap((order) => order.paymentRowList);

  const some = <Item>(items: readonly Item[], is: (item: Item) => unknown) => expect(items.some(is)).toBe(true);
  const values = (items: Iterable<unknown>) => new Set(items);
  const later = (one: string | null, other: string | null) => one !== null && other !== null && one > other;

  it("serves in the house, at the counter and by delivery, in every kind of room", () => {
    expect(values(orders.map((order) => order.serviceType))).toEqual(values(["eatin", "takeout", "delivery"]));
    expect(values(orders.map((order) => order.roomType))).toEqual(values(["room", "bar", "takeOut", "extOrder"]));
    some(orders, (order) => order.serviceType === "delivery" && order.deliveryAddress && order.externalOrderId);
  });

  it("has tables with and without guests", () => {
    some(orders, (order) => order.serviceType === "eatin" && order.guestsCount === 0);
    some(orders, (order) => order.guestsCount > 4);
  });

  it("has modifiers, free and paid, on products and in menus, and weights", () => {
    some(standalone, (row) => row.modifierRowList.some(({ amount }) => amount > 0));
    some(standalone, (row) => row.modifierRowList.some(({ amount }) => amount === 0));
    some(menus, (menu) => menu.productRowList.some((row) => row.modifierRowList.length > 0));
    some(rows, (row) => row.weight !== null);
    expect(values(rows.map((row) => row.taxRate))).toEqual(values([5.5, 10, 20]));
  });

  it("has discounts on one product and over several, settled and not, and gifts", () => {
    some(discounts, (discount) => discount.status === "validated" && discount.discountGroupId === null);
    some(discounts, ({ discountGroupId: group }) => discounts.filter((it) => it.discountGroupId === group).length > 2);
    expect(values(discounts.map(({ status }) => status))).toEqual(values(["validated", "pending", "cancelled"]));
    some(rows, (row) => row.totalRow === 0 && row.quantity > 0 && isSoldRow(row));
  });

  it("has menus of several steps and VAT rates, some split over bills", () => {
    some(menus, (menu) => values(menu.productRowList.map((row) => row.menuStepName)).size === 3);
    some(menus, (menu) => values(menu.productRowList.map((row) => row.taxRate)).size > 1);
    some(menus, (menu) => menu.parentMenuRowId !== null);
    some(standalone, (row) => row.parentProductRowId !== null);
    some(standalone, (row) => row.parentProductRowId !== null && row.discountRowList.length > 0);
  });

  it("has rows canceled without a bill, before it and after it, alone, in menus and whole menus", () => {
    const canceled = counting.flatMap((order) =>
      order.productRowList.filter((row) => row.isCanceled).map((row) => ({ order, row })),
    );
    some(canceled, ({ order }) => order.firstBillPrintDate === null);
    some(canceled, ({ order, row }) => later(order.firstBillPrintDate, row.modifiedAt));
    some(canceled, ({ order, row }) => later(row.modifiedAt, order.firstBillPrintDate));
    some(menus, (menu) => menu.productRowList.some(isSoldRow) && menu.productRowList.some((row) => row.isCanceled));
    some(menus, (menu) => menu.productRowList.every((row) => row.isCanceled));
  });

  it("has transferred, lost, returned and merged rows", () => {
    some(rows, (row) => row.isTransferred && row.transferredTo);
    some(standalone, (row) => row.isLoss && row.lossReason);
    some(menus, (menu) => menu.productRowList.some((row) => row.isLoss));
    some(counting, (order) => order.total > 0 && order.productRowList.some((row) => row.quantity < 0));
    some(counting, (order) => order.isMerged && order.groupedTableInfo.length > 1);
    some(rows, (row) => row.isMerged);
  });

  it("has orders canceled without a bill, before it, after it, and after payment", () => {
    const canceled = orders.filter((order) => order.isCanceled);
    some(canceled, (order) => order.firstBillPrintDate === null);
    some(canceled, (order) => later(order.firstBillPrintDate, order.canceledAt));
    some(canceled, (order) => later(order.canceledAt, order.firstBillPrintDate));
    some(canceled, (order) => order.paymentRowList.some(({ status }) => status === "validated"));
  });

  it("has transferred and training orders, refunds left open and paid back, and orders closed by hand", () => {
    some(orders, (order) => order.isTransferred && order.transferredTo);
    some(orders, (order) => order.isTraining);
    some(counting, (order) => order.total < 0 && order.manuallyClosed && order.leftToPay === order.total);
    some(counting, (order) => order.total < 0 && order.isPaid && order.leftToPay === 0);
    some(counting, (order) => order.total === 0 && order.manuallyClosed && order.totalDiscount > 0);
  });

  it("is paid in parts, with change, tips, on account, and with payments that were not settled", () => {
    some(counting, (order) => order.paymentRowList.filter(({ status }) => status === "validated").length > 2);
    some(payments, (payment) => payment.changeAmount > 0 && payment.changePaymentMode === "cash");
    some(payments, (payment) => (payment.tipAmount ?? 0) > 0);
    some(payments, (payment) => payment.paymentType === "tip");
    some(payments, (payment) => payment.paymentType === "customerAccount" && payment.firebaseCustomerRefKey);
    some(payments, (payment) => payment.paymentMode === "debt" && payment.paymentType === "payment");
    some(payments, (payment) => payment.paymentMode === "deposit");
    expect(values(payments.map(({ status }) => status))).toEqual(values(["validated", "pending", "cancelled"]));
    some(counting, (order) => order.leftToPay > 0 && !order.isPaid);
  });

  it("is worked by several clerks in shifts: one twice, some without clocking out", () => {
    const shifts = till.clerkShiftList;
    const clerks = values(shifts.map(({ id }) => id));
    expect(clerks.size).toBeGreaterThan(3);
    expect(shifts.length).toBeGreaterThan(clerks.size);
    some(shifts, (shift) => shift.clockOutDate === null);
    expect(values(orders.map((order) => order.operatorId))).toEqual(clerks);
    some(counting, (order) => order.paymentRowList.some((payment) => payment.operatorId !== order.operatorId));
    some(counting, (order) => !worksAt(order.operatorId, order.openedAt));
  });

  function worksAt(clerkId: string | null, instant: string): boolean {
    return till.clerkShiftList.some(
      ({ id, clockInDate, clockOutDate }) =>
        id === clerkId && (clockInDate ?? "") <= instant && (clockOutDate === null || instant < clockOutDate),
    );
  }

  it("declares its payments and moves money in and out of the drawer", () => {
    expect(till.declaredPaymentList.length).toBeGreaterThan(5);
    expect(values(till.financialMovementList.map(({ type }) => type))).toEqual(
      values(["deposit", "customerAccount", "cash-in", "cash-out"]),
    );
  });
});
