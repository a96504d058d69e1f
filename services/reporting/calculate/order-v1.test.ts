import { expect, test } from "vitest";
import { compute } from "../testing/compute.ts";
import { makeDiscount, makeMenu, makeModifier, makeOrder, makePayment, makeRow } from "../testing/make-till.ts";

function orderV1Of(fields: Parameters<typeof makeOrder>[0]) {
  const order = compute([makeOrder(fields)]).orders[0]?.v1;
  if (!order) throw new Error("The order is not there");
  return order;
}

test("names the customer, place and reasons as the first shape does", () => {
  expect(
    orderV1Of({
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

test("shows every row, also those that do not count", () => {
  const { items, menus } = orderV1Of({
    productRowList: [
      makeRow({ taxRate: 5.5, weight: 1.2, pricingName: "Bar", unitPriceRow: 7 }),
      makeRow({ isCanceled: true, canceledReason: "Rupture", parentProductRowId: "p" }),
      makeRow({ isLoss: true, lossReason: "Casse", productId: null, taxId: null }),
    ],
    menuRowList: [makeMenu({ productRowList: [makeRow({ isTransferred: true, transferredTo: "Table 12" })] })],
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

test("shows validated discounts and all modifiers of an item", () => {
  const { items } = orderV1Of({
    productRowList: [
      makeRow({
        discountRowList: [makeDiscount(), makeDiscount({ status: "pending" })],
        modifierRowList: [makeModifier({ modifierId: "m", modifierGroupId: "g" })],
      }),
    ],
  });
  expect(items[0]?.discountsApplied).toEqual([
    { discountName: "Personnel", discountValue: 110, discountCatalogId: "staff" },
  ]);
  expect(items[0]?.modifiers).toEqual([{ modifierGroupId: "g", modifierId: "m", name: "Bacon" }]);
});

test("payments are the validated ones of type payment or customerAccount", () => {
  const { payments } = orderV1Of({
    paymentRowList: (["payment", "change", "discount", "customerAccount", "tip"] as const).flatMap((paymentType) => [
      makePayment({ paymentType, name: paymentType }),
      makePayment({ paymentType, status: "pending" }),
    ]),
  });
  expect(payments).toEqual([
    { paymentName: "payment", paymentAmount: 1100, paymentCatalogId: "card" },
    { paymentName: "customerAccount", paymentAmount: 1100, paymentCatalogId: "card" },
  ]);
});

test("tips are the validated rows of type tip, and the tips on top of others", () => {
  const { tips } = orderV1Of({
    paymentRowList: [
      makePayment({ name: "a", tipAmount: 50 }),
      makePayment({ name: "b", paymentType: "tip", amount: 200, tipAmount: 9 }),
      makePayment({ name: "c", tipAmount: 0 }),
      makePayment({ name: "d", tipAmount: -5 }),
      makePayment({ name: "e", paymentType: "customerAccount", tipAmount: 7, paymentId: null }),
      makePayment({ name: "f", paymentType: "tip", amount: 200, status: "cancelled" }),
      makePayment({ name: "g", tipAmount: 50, status: "pending" }),
      makePayment({ name: "h", paymentType: "tip", amount: 0 }),
    ],
  });
  expect(tips).toEqual([
    { tipName: "a", tipAmount: 50, tipCatalogId: "card" },
    { tipName: "b", tipAmount: 200, tipCatalogId: "card" },
    { tipName: "e", tipAmount: 7, tipCatalogId: null },
    { tipName: "h", tipAmount: 0, tipCatalogId: "card" },
  ]);
});
