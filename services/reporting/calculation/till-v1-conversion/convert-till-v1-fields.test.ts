import { describe, expect, test } from "vitest";
import {
  buildTestPaymentV1,
  buildTestTicketItemV1,
  buildTestTicketV1,
  buildTestTillV1,
} from "../../testing/till-v1-fixtures.ts";
import { convertTillV1ToV2 } from "./convert-till-v1.ts";

const tillId = "5f67b799-163e-4208-82c1-be6c4c4006c3";

function convertTestTill(...args: Parameters<typeof buildTestTillV1>) {
  return convertTillV1ToV2(buildTestTillV1(...args), { tillId, timeZone: "Europe/Paris" });
}

function convertTestTicket(fields: Parameters<typeof buildTestTicketV1>[0]) {
  const [order] = convertTestTill([buildTestTicketV1(fields)]).orderList;
  if (!order) throw new Error("The till has no order.");
  return order;
}

function convertTestItem(fields: Parameters<typeof buildTestTicketItemV1>[0]) {
  return convertTestTicket({ items: [buildTestTicketItemV1(fields)] }).productRowList[0];
}

describe("the totals of an item", () => {
  test("are the unit price plus options, times the quantity, minus discounts", () => {
    const row = convertTestItem({
      quantity: 3,
      options: [{ price: 150 }, { price: -50 }],
      discounts: [{ amount: 100 }, { amount: 20 }],
    });
    expect(row).toMatchObject({
      unitPriceRow: 1100,
      unitPriceRowWithModifier: 1200,
      totalRowWithModifier: 3600,
      totalDiscount: 120,
      totalRow: 3480,
      taxableAmount: 3164,
      taxAmount: 316,
    });
  });

  test.each([
    [1.227, { amount: 6200, tax: 10 }, 1, 7607],
    [0.3505, { amount: 1000, tax: 10 }, 1, 351],
    [0.25, { amount: 333, tax: 5.5 }, 2, 167],
    [0, { amount: 333, tax: 5.5 }, 2, 0],
  ])("for %s kg at %o and quantity %s are %s", (weight, price, quantity, totalRowWithModifier) => {
    expect(convertTestItem({ weight, price, quantity })).toMatchObject({ totalRowWithModifier });
  });

  test("multiply the price of options by the weight", () => {
    expect(convertTestItem({ weight: 0.5, options: [{ price: 101 }] })).toMatchObject({ totalRowWithModifier: 601 });
  });

  test("are negative when discounts exceed the price, with VAT rounded half away from zero", () => {
    const row = convertTestItem({ price: { amount: 0, tax: 100 }, discounts: [{ amount: 21 }] });
    expect(row).toMatchObject({ totalRow: -21, taxableAmount: -11, taxAmount: -10 });
  });
});

test("copies the names, steps, options and discounts of an item to the row", () => {
  const row = convertTestItem({
    client_id: "row",
    item_client_id: "pizza",
    parent_id: "parent",
    category: "Pizze",
    parent_category: "Cuisine",
    step: "Plat",
    step_index: 1,
    motif: "Rupture",
    cancelled: true,
    is_loss: true,
    loss_reason: "Casse",
    waiter: "Alice",
    sku: "SKU-1",
    creation_date: "2026-05-29T14:00:00",
    ordered_date: "2026-05-29T14:05:00+02:00",
    price: { tax: 5.5, amount: 1100, tier: "Normal", tax_name: "TVA", currency: "EUR" },
    options: [{ client_id: "o", name: "Bacon", price: 150, group_id: "g", group_name: "Suppléments" }],
    discounts: [{ client_id: "d", name: "Personnel", amount: 10 }],
  });
  expect(row).toMatchObject({
    id: "row",
    productId: "pizza",
    parentProductRowId: "parent",
    subCategoryName: "Pizze",
    categoryName: "Cuisine",
    menuStepName: "Plat",
    menuStepIndex: 1,
    canceledReason: "Rupture",
    isCanceled: true,
    isTransferred: false,
    isLoss: true,
    lossReason: "Casse",
    operatorName: "Alice",
    sku: "SKU-1",
    recordedAt: "2026-05-29T12:00:00.000Z",
    modifiedAt: "2026-05-29T12:00:00.000Z",
    orderedAt: "2026-05-29T12:05:00.000Z",
    pricingName: "Normal",
    taxName: "TVA",
    taxRate: 5.5,
    taxId: null,
    currencyCode: "EUR",
    modifierRowList: [
      { amount: 150, name: "Bacon", modifierId: "o", modifierGroupId: "g", modifierGroupName: "Suppléments" },
    ],
    discountRowList: [{ amount: 10, name: "Personnel", discountId: "d", discountGroupId: null, status: "validated" }],
  });
});

test("copies the names, table and room of a ticket to the order", () => {
  expect(
    convertTestTicket({
      date_begin: "2026-05-29T14:00:00",
      date_end: "2026-05-29T15:00:00",
      waiter: "Alice",
      waiter_id: "alice",
      table: "12",
      room: "Salle",
      room_id: "salle",
      price: 1100,
      number_guests: 3,
      motif: "Rupture",
      cancelled: true,
      transferred: true,
      transferred_motif: "Mews",
      prints_count: 2,
      fiscal: 7,
      device_id: "ipad",
      device_name: "iPad",
      customer_identifier: "-Mkw",
      signature: "abc",
    }),
  ).toMatchObject({
    tillId,
    openedAt: "2026-05-29T12:00:00.000Z",
    closedAt: "2026-05-29T13:00:00.000Z",
    operatorName: "Alice",
    operatorId: "alice",
    tableName: "12",
    roomName: "Salle",
    roomId: "salle",
    roomType: "room",
    total: 1100,
    guestsCount: 3,
    canceledReason: "Rupture",
    isCanceled: true,
    isTransferred: true,
    transferredTo: "Mews",
    billPrintCount: 2,
    fiscalNumber: 7,
    deviceIdentifier: "ipad",
    deviceName: "iPad",
    firebaseCustomerRefKey: "-Mkw",
    signature: "abc",
    canceledAt: null,
    firstBillPrintDate: null,
    channel: "unknown",
    serviceType: "unknown",
    source: "unknown",
    isTraining: false,
  });
});

describe("the totals of an order", () => {
  const items = [
    buildTestTicketItemV1({ discounts: [{ amount: 110 }] }),
    buildTestTicketItemV1({ cancelled: true, discounts: [{ amount: 1 }] }),
    buildTestTicketItemV1({ transferred: true }),
    buildTestTicketItemV1({ is_loss: true }),
  ];
  const menus = [
    { client_id: "m", name: "Menu", price: 550, items: [buildTestTicketItemV1({ price: { tax: 10, amount: 550 } })] },
  ];

  test.each([{}, { cancelled: true }, { transferred: true }])("sum the sold rows, even if the order is %o", (state) => {
    expect(convertTestTicket({ ...state, price: 2000, items, menus })).toMatchObject({
      total: 2000,
      totalTax: 140,
      totalDiscount: 110,
      totalWithoutTax: 1860,
    });
  });

  test.each([
    ["nothing is paid", [], 1100, false],
    ["a part is paid", [{ amount: 100 }, { amount: 1, type: 3 }], 999, false],
    ["everything is paid", [{}], 0, true],
    ["too much is paid", [{}, {}], 0, true],
    ["the payment was canceled", [{ cancelled: true }], 1100, false],
    ["there is only a tip, change or discount", [{ type: 4 }, { type: 1 }, { type: 2 }], 1100, false],
  ])("have the right leftToPay when %s", (_, payments, leftToPay, isPaid) => {
    const order = convertTestTicket({ price: 1100, payments: payments.map((payment) => buildTestPaymentV1(payment)) });
    expect(order).toMatchObject({ leftToPay, isPaid });
  });
});

test("sets the total of a menu, and the menu id of its rows", () => {
  const order = convertTestTicket({
    order_id: tillId,
    menus: [{ client_id: "m", name: "Menu", price: 550, items: [buildTestTicketItemV1()] }],
  });
  expect(order.menuRowList).toMatchObject([
    {
      id: `${tillId}#0`,
      menuId: "m",
      name: "Menu",
      totalRow: 550,
      parentMenuRowId: null,
      productRowList: [{ menuRowId: `${tillId}#0` }],
    },
  ]);
});

test.each([
  [0, 0, "cash", "payment"],
  [2, 1, "restaurantCheck", "change"],
  [11, 3, "mews", "customerAccount"],
  [22, 4, "tablePayment", "tip"],
  [23, 5, "custom", "payment"],
  [1_000_000, 1_000_000, "custom", "payment"],
])("converts payment mode %s and type %s to %s and %s", (mode, type, paymentMode, paymentType) => {
  const order = convertTestTicket({ payments: [buildTestPaymentV1({ mode, type })] });
  expect(order.paymentRowList[0]).toMatchObject({ paymentMode, paymentType, changeAmount: 0, tipAmount: null });
});

test("copies the operator, time and method of a payment", () => {
  const payment = buildTestPaymentV1({
    cancelled: true,
    name: "Carte",
    person_client_id: "bruno",
    person_name: "Bruno",
    payment_method_client_id: "card",
    creation_date: "2026-05-29T14:00:00",
  });
  expect(convertTestTicket({ payments: [payment] }).paymentRowList[0]).toMatchObject({
    status: "cancelled",
    name: "Carte",
    operatorId: "bruno",
    operatorName: "Bruno",
    paymentId: "card",
    recordedAt: "2026-05-29T12:00:00.000Z",
    paymentProtocol: "unknown",
  });
});

test("names declared payments after the till's first payment with the same mode, or otherwise after the mode", () => {
  const tickets = [
    buildTestTicketV1({
      payments: [buildTestPaymentV1({ mode: 0, name: "Espèces" }), buildTestPaymentV1({ mode: 0, name: "Liquide" })],
    }),
    buildTestTicketV1({
      payments: [buildTestPaymentV1({ mode: 1, name: null }), buildTestPaymentV1({ mode: 0, name: "Cash" })],
    }),
  ];
  const total_payments = [0, 1, 2, 99].map((mode) => ({ mode, amount: mode }));
  expect(convertTestTill(tickets, { total_payments }).declaredPaymentList).toEqual([
    { paymentMode: "cash", paymentName: "Espèces", paymentAmount: 0, paymentId: null, quantity: null },
    { paymentMode: "card", paymentName: "card", paymentAmount: 1, paymentId: null, quantity: null },
    {
      paymentMode: "restaurantCheck",
      paymentName: "restaurantCheck",
      paymentAmount: 2,
      paymentId: null,
      quantity: null,
    },
    { paymentMode: "custom", paymentName: "custom", paymentAmount: 99, paymentId: null, quantity: null },
  ]);
});

test.each([
  [-1, -1, "cash-out", null],
  [0, 0, "cash-in", "cash"],
  [500, 23, "cash-in", "custom"],
  [500, null, "cash-in", null],
])("converts a cash movement of %s in mode %s to %s in %s", (amount, payment_mode, type, paymentMode) => {
  const cash_movements = [
    { amount, payment_mode, name: "Fond", person: "Alice", person_id: "alice", payment_name: "Espèces" },
  ];
  expect(convertTestTill([], { cash_movements }).financialMovementList[0]).toMatchObject({
    id: null,
    amount,
    type,
    paymentMode,
    name: "Fond",
    operatorName: "Alice",
    operatorId: "alice",
    paymentName: "Espèces",
  });
});

test("copies the ticket header, clerk and balances to the till", () => {
  const till = convertTestTill([], {
    ticket_name: "Bistro",
    ticket_company: "350",
    ticket_text: "Bienvenue",
    ticket_address: "3 rue",
    ticket_url: "example.com",
    person_name: "Alice",
    person_id: "alice",
    cash_float_initial: 100,
    cash_float_final: null,
    team: [{ name: "Alice", person_client_id: "alice", date_begin: "2026-05-29T10:00:00", date_end: null }],
    date_begin: "2026-05-29T08:00:00",
    fiscal: 24,
    locale: "en_GB",
  });
  expect(till).toMatchObject({
    id: tillId,
    establishmentName: "Bistro",
    siretCode: "350",
    companyName: null,
    customHeader: "Bienvenue",
    customFooter: null,
    address1: "3 rue",
    address2: null,
    website: "example.com",
    country: "France",
    clerkName: "Alice",
    clerkId: "alice",
    initialCashBalance: 100,
    finalCashBalance: null,
    clerkShiftList: [{ id: "alice", name: "Alice", clockInDate: "2026-05-29T08:00:00.000Z", clockOutDate: null }],
    startedAt: "2026-05-29T06:00:00.000Z",
    reportNumber: 24,
    locale: "en_GB",
    isTraining: false,
  });
});
