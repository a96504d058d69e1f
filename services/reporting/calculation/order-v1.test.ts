import { expect, test } from "vitest";
import { computeTestTillReport } from "../testing/compute-test-report.ts";
import {
  buildTestOrder,
  buildTestOrderDiscountRow,
  buildTestOrderMenuRow,
  buildTestOrderModifierRow,
  buildTestOrderPaymentRow,
  buildTestOrderProductRow,
} from "../testing/till-fixtures.ts";

function computeOrderV1(fields: Parameters<typeof buildTestOrder>[0]) {
  const order = computeTestTillReport([buildTestOrder(fields)]).orders[0]?.v1;
  if (!order) throw new Error("The till has no order.");
  return order;
}

test("maps the customer, table and reasons to their V1 fields", () => {
  expect(
    computeOrderV1({
      firebaseCustomerRefKey: "-Mkw",
      deviceIdentifier: "ipad",
      roomName: "Salle",
      tableName: "12",
      guestsCount: 3,
      transferredTo: "Mews",
      canceledReason: "Rupture",
      openedAt: "2026-05-29T12:00:00+02:00",
    }),
  ).toMatchObject({
    customerId: "-Mkw",
    deviceId: "ipad",
    orderPlace: "Salle",
    orderNumber: "12",
    guests: 3,
    transferReason: "Mews",
    cancelReason: "Rupture",
    channel: "unknown",
    serviceType: "unknown",
    source: "unknown",
    openedAt: "2026-05-29T10:00:00.000Z",
    closedAt: null,
  });
});

test("includes all rows, even those that do not count as sales", () => {
  const { items, menus } = computeOrderV1({
    productRowList: [
      buildTestOrderProductRow({ taxRate: 5.5, weight: 1.2, pricingName: "Bar", unitPriceRow: 7 }),
      buildTestOrderProductRow({ isCanceled: true, canceledReason: "Rupture", parentProductRowId: "p" }),
      buildTestOrderProductRow({ isLoss: true, lossReason: "Casse", productId: null, taxId: null }),
    ],
    menuRowList: [
      buildTestOrderMenuRow({
        productRowList: [buildTestOrderProductRow({ isTransferred: true, transferredTo: "Table 12" })],
      }),
    ],
  });
  expect(items).toMatchObject([
    {
      weight: 1.2,
      tier: "Bar",
      unitPrice: 7,
      total: 1100,
      stockImpactIndicator: true,
      tax: { taxRate: 550, taxCatalogId: "ten" },
    },
    { isCanceled: true, cancelReason: "Rupture", stockImpactIndicator: false },
    { isLoss: true, lossReason: "Casse", itemCatalogId: null, tax: { taxCatalogId: null } },
  ]);
  expect(menus).toMatchObject([
    { name: "Formule midi", amount: 1100, items: [{ isTransferred: true, transferReason: "Table 12" }] },
  ]);
});

test("includes validated discounts and all modifiers of an item", () => {
  const { items } = computeOrderV1({
    productRowList: [
      buildTestOrderProductRow({
        discountRowList: [buildTestOrderDiscountRow(), buildTestOrderDiscountRow({ status: "pending" })],
        modifierRowList: [buildTestOrderModifierRow({ modifierId: "m", modifierGroupId: "g" })],
      }),
    ],
  });
  expect(items[0]?.discountsApplied).toEqual([
    { discountName: "Personnel", discountValue: 110, discountCatalogId: "staff" },
  ]);
  expect(items[0]?.modifiers).toEqual([{ modifierGroupId: "g", modifierId: "m", name: "Bacon" }]);
});

test("includes validated payments of type payment and customerAccount", () => {
  const { payments } = computeOrderV1({
    paymentRowList: (["payment", "change", "discount", "customerAccount", "tip"] as const).flatMap((paymentType) => [
      buildTestOrderPaymentRow({ paymentType, name: paymentType }),
      buildTestOrderPaymentRow({ paymentType, status: "pending" }),
    ]),
  });
  expect(payments).toEqual([
    { paymentName: "payment", paymentAmount: 1100, paymentMode: "card", paymentCatalogId: "card" },
    { paymentName: "customerAccount", paymentAmount: 1100, paymentMode: "card", paymentCatalogId: "card" },
  ]);
});

test("includes validated tip rows and tips on top of other payments", () => {
  const { tips } = computeOrderV1({
    paymentRowList: [
      buildTestOrderPaymentRow({ name: "a", tipAmount: 50 }),
      buildTestOrderPaymentRow({ name: "b", paymentType: "tip", amount: 200, tipAmount: 9 }),
      buildTestOrderPaymentRow({ name: "c", tipAmount: 0 }),
      buildTestOrderPaymentRow({ name: "d", tipAmount: -5 }),
      buildTestOrderPaymentRow({ name: "e", paymentType: "customerAccount", tipAmount: 7, paymentId: null }),
      buildTestOrderPaymentRow({ name: "f", paymentType: "tip", amount: 200, status: "cancelled" }),
      buildTestOrderPaymentRow({ name: "g", tipAmount: 50, status: "pending" }),
      buildTestOrderPaymentRow({ name: "h", paymentType: "tip", amount: 0 }),
    ],
  });
  expect(tips).toEqual([
    { tipName: "a", tipAmount: 50, tipCatalogId: "card" },
    { tipName: "b", tipAmount: 200, tipCatalogId: "card" },
    { tipName: "e", tipAmount: 7, tipCatalogId: null },
    { tipName: "h", tipAmount: 0, tipCatalogId: "card" },
  ]);
});
