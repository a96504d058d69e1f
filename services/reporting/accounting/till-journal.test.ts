import { randomUUID } from "node:crypto";
import { type AccountingRules, ReplaceAccountingConfigRequest } from "@pragma/contracts/accounting-config";
import { paymentModes } from "@pragma/contracts/enumerations";
import type { TillV2Input } from "@pragma/contracts/till-v2";
import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { computeDocuments } from "../calculation/compute-report.ts";
import { computeTillAccountingData } from "../calculation/settlement/till-accounting-data.ts";
import { convertTillV1ToV2 } from "../calculation/till-v1-conversion/convert-till-v1.ts";
import { checkTillFigures } from "../days/check-figures.ts";
import { computeTillFigures } from "../days/till-figures.ts";
import {
  buildTestOrder,
  buildTestOrderDiscountRow,
  buildTestOrderMenuRow,
  buildTestOrderPaymentRow,
  buildTestOrderProductRow,
  buildTestTill,
} from "../testing/till-fixtures.ts";
import {
  buildTestPaymentV1,
  buildTestTicketItemV1,
  buildTestTicketV1,
  buildTestTillV1,
} from "../testing/till-v1-fixtures.ts";
import { buildTillJournalEntries } from "./write-till-entries.ts";

type Rules = z.input<typeof ReplaceAccountingConfigRequest>;
type Orders = TillV2Input["orderList"];

/** Returns the checks of a till by their codes, as its business day computes them. */
function checkDay(orders: Orders, fields: Partial<TillV2Input> = {}) {
  const till = buildTestTill(orders, fields);
  const report = computeDocuments(till, { locationId: randomUUID() })?.reportV2 ?? expect.unreachable();
  const accountingData = computeTillAccountingData(till, (instant) => instant.slice(0, 10));
  const figures = computeTillFigures(report, accountingData, till) ?? expect.unreachable();
  return Object.fromEntries(checkTillFigures([{ tillId: till.id, figures }], []).map((check) => [check.code, check]));
}

function createJournal(orders: Orders, fields: Partial<TillV2Input> = {}, rules: Rules = {}, currency = "EUR") {
  const till = buildTestTill(orders, fields);
  const report = computeDocuments(till, { locationId: "7d0c1c1e-4f6f-4c8b-9c53-0f8f4c1f9a11" })?.reportV2;
  if (!report) throw new Error("A till in training mode has no report.");
  const config: AccountingRules = ReplaceAccountingConfigRequest.parse(rules);
  return buildTillJournalEntries(
    report,
    computeTillAccountingData(till, (instant) => instant.slice(0, 10)),
    config,
    currency,
  );
}

/** Returns the entries of a till. Each line is an account, a text and an amount, which is negative for a credit. */
function journalLines(...args: Parameters<typeof createJournal>): [string, string, number][][] {
  const { entries, gaps } = createJournal(...args);
  if (!entries) throw new Error(JSON.stringify(gaps));
  return entries.map(({ lines }) =>
    lines.map(({ account, text, debit, credit }) => [account, text.replace("Caisse Z1 ", ""), debit - credit]),
  );
}

/** Returns an order that was paid by card. Its total is 11.00, including 10% VAT. `fields` overrides its fields. */
const createSoldOrder = (fields: Parameters<typeof buildTestOrder>[0] = {}) =>
  buildTestOrder({
    total: 1100,
    productRowList: [buildTestOrderProductRow()],
    paymentRowList: [buildTestOrderPaymentRow()],
    ...fields,
  });

const salesLines: [string, string, number][] = [
  ["70610", "Prestations de services 10 %", -1000],
  ["4457110", "TVA collectée 10 %", -100],
];
const cardLine: [string, string, number] = ["5115", "Carte bancaire", 1100];

it("states contradicting figures with the decimals of the currency", () => {
  const order = createSoldOrder({ paymentRowList: [] });
  const messageIn = (currency: string) => createJournal([order], {}, {}, currency).gaps?.[0]?.message;
  expect(messageIn("EUR")).toContain("Orders total 11.00 EUR");
  expect(messageIn("XPF")).toContain("Orders total 1100 XPF");
  expect(messageIn("TND")).toContain("Orders total 1.100 TND");
});

describe("journal entries of sales", () => {
  it("credit sales and VAT separately, and debit the payments", () => {
    expect(journalLines([createSoldOrder()])).toEqual([[cardLine, ...salesLines]]);
  });

  it("use the accounts of the VAT rate, or the default accounts if the rate has no accounts", () => {
    const row = buildTestOrderProductRow({
      taxRate: 8.5,
      taxName: "TVA 8,5%",
      totalRow: 1085,
      taxAmount: 85,
      taxableAmount: 1000,
    });
    const order = createSoldOrder({
      total: 1085,
      productRowList: [row],
      paymentRowList: [buildTestOrderPaymentRow({ amount: 1085 })],
    });
    expect(journalLines([order])[0]?.slice(1)).toEqual([
      ["706", "Prestations de services", -1000],
      ["44571", "TVA collectée", -85],
    ]);
    const rules = { sales: [{ taxRate: 850, account: "7078", label: "Antilles" }] };
    expect(journalLines([order], {}, rules)[0]?.[1]).toEqual(["7078", "Antilles", -1000]);
  });

  it("count products in menus once", () => {
    const menu = buildTestOrderMenuRow({ productRowList: [buildTestOrderProductRow()] });
    expect(journalLines([createSoldOrder({ productRowList: [], menuRowList: [menu] })])).toEqual([
      [cardLine, ...salesLines],
    ]);
  });

  it("debit sales that were refunded", () => {
    const row = buildTestOrderProductRow({ quantity: -1, totalRow: -1100, taxAmount: -100, taxableAmount: -1000 });
    const refund = { total: -1100, productRowList: [row] };
    expect(
      journalLines([createSoldOrder({ ...refund, paymentRowList: [buildTestOrderPaymentRow({ amount: -1100 })] })]),
    ).toEqual([[cardLine, ...salesLines].map(([account, text, amount]) => [account, text, -Number(amount)])]);
    const owed = journalLines([createSoldOrder({ ...refund, paymentRowList: [], leftToPay: 0 })])[0];
    expect(owed).toContainEqual(["4197", "Remboursements dus", -1100]);
  });

  it("are empty for a till without orders", () => {
    expect(journalLines([])).toEqual([]);
  });
});

describe("journal lines of discounts", () => {
  const discounted = createSoldOrder({
    total: 990,
    productRowList: [
      buildTestOrderProductRow({
        totalRow: 990,
        totalDiscount: 110,
        taxAmount: 90,
        taxableAmount: 900,
        discountRowList: [buildTestOrderDiscountRow()],
      }),
    ],
    paymentRowList: [buildTestOrderPaymentRow({ amount: 990 })],
  });
  const vat = ["4457110", "TVA collectée 10 %", -90];

  it("are omitted when sales are booked net", () => {
    expect(journalLines([discounted])[0]?.slice(1)).toEqual([["70610", "Prestations de services 10 %", -900], vat]);
  });

  it("are on account 709 when sales are booked gross, with the same VAT", () => {
    expect(journalLines([discounted], {}, { discountBooking: "gross" })[0]?.slice(1)).toEqual([
      ["709", "Remises sur ventes à 10 %", 100],
      ["70610", "Prestations de services 10 %", -1000],
      vat,
    ]);
  });
});

describe("journal lines of payments", () => {
  const paidBy = (...payments: Parameters<typeof buildTestOrderPaymentRow>[0][]) =>
    createSoldOrder({ paymentRowList: payments.map((payment) => buildTestOrderPaymentRow(payment)) });

  it("use the account of the payment mode, or the account configured for the method's name", () => {
    const order = paidBy({ name: "Ticket Restaurant", paymentMode: "restaurantCheck" });
    expect(journalLines([order])[0]?.[0]).toEqual(["5118", "Ticket Restaurant", 1100]);
    const paymentMethods = [{ name: "Ticket Restaurant", account: "51182", label: "Titres" }];
    expect(journalLines([order], {}, { paymentMethods })[0]?.[0]).toEqual(["51182", "Ticket Restaurant", 1100]);
    const payments = { restaurantCheck: { account: "51183" } };
    expect(journalLines([order], {}, { payments })[0]?.[0]).toEqual(["51183", "Ticket Restaurant", 1100]);
  });

  it("use account 411 for unpaid amounts, debts and customer accounts", () => {
    expect(journalLines([createSoldOrder({ leftToPay: 1100, paymentRowList: [] })])[0]?.[0]).toEqual([
      "411",
      "Reste à payer",
      1100,
    ]);
    const onAccount = paidBy({ name: "Compte", paymentMode: "debt", paymentType: "customerAccount" });
    expect(journalLines([onAccount])[0]?.[0]).toEqual(["411", "Compte", 1100]);
    expect(journalLines([paidBy({ name: "Dette", paymentMode: "debt" })])[0]?.[0]).toEqual(["411", "Dette", 1100]);
  });

  it("use account 4191 for deposits", () => {
    expect(journalLines([paidBy({ name: "Arrhes", paymentMode: "deposit" })])[0]?.[0]).toEqual([
      "4191",
      "Arrhes",
      1100,
    ]);
  });

  it("book tips on account 467, both tips on top of payments and tip rows", () => {
    const tip = { amount: 150, name: "Pourboire", paymentType: "tip", paymentMode: "cash" } as const;
    expect(journalLines([paidBy({ tipAmount: 200 }, tip)])).toEqual([
      [
        cardLine,
        ["5115", "Pourboires Carte bancaire", 200],
        ["531", "Pourboire", 150],
        ...salesLines,
        ["467", "Pourboires", -350],
      ],
    ]);
  });

  it("omit payments that were not validated, and rows of change and discounts", () => {
    const order = paidBy(
      {},
      { status: "pending" },
      { status: "cancelled" },
      { paymentType: "change", amount: 400, name: "Rendu" },
      { paymentType: "discount", amount: 300, name: "Remise" },
    );
    expect(journalLines([order])).toEqual([[cardLine, ...salesLines]]);
  });

  it("book payments of canceled orders as owed to the customer", () => {
    expect(journalLines([createSoldOrder({ isCanceled: true })])).toEqual([
      [cardLine, ["4197", "Commandes annulées déjà payées", -1100]],
    ]);
  });

  it("have the auxiliary account of customers if the config has one", () => {
    const customerAuxiliary = { account: "CLIDIVERS", label: "Clients divers" };
    const { entries } = createJournal(
      [createSoldOrder({ leftToPay: 1100, paymentRowList: [] })],
      {},
      { customerAuxiliary },
    );
    expect(entries?.[0]?.lines.map(({ auxiliary }) => auxiliary)).toEqual([customerAuxiliary, null, null]);
  });
});

describe("journal entries of the cash drawer", () => {
  const createMovement = (type: string, amount: number, fields: object = {}) => ({
    type,
    amount,
    name: "Motif",
    ...fields,
  });
  const movementEntries = (...movements: object[]) => journalLines([], { financialMovementList: movements as never });

  it.each([
    ["cash-in", 2000, "580"],
    ["cash-out", -2000, "471"],
    ["deposit", 2000, "4191"],
    ["customerAccount", 2000, "411"],
  ])("book a %s of %i on accounts 531 and %s", (type, amount, account) => {
    const lines = [
      ["531", "Motif", amount],
      [account, "Motif", -amount],
    ];
    expect(movementEntries(createMovement(type, amount))).toEqual([lines]);
  });

  it("book a deposit by card on the account of cards", () => {
    expect(movementEntries(createMovement("deposit", 5000, { paymentMode: "card" }))[0]?.[0]).toEqual([
      "5115",
      "Motif",
      5000,
    ]);
  });

  const cashDifferenceLines = (
    finalCashBalance: number | null,
    initialCashBalance: number | null = 10_000,
    rules: Rules = {},
  ) =>
    journalLines(
      [createSoldOrder({ paymentRowList: [buildTestOrderPaymentRow({ name: "Espèces", paymentMode: "cash" })] })],
      { initialCashBalance, finalCashBalance },
      rules,
    )[1];

  it("book missing cash on account 658, and excess cash on 758", () => {
    expect(cashDifferenceLines(11_000)).toEqual([
      ["531", "Écart de caisse", -100],
      ["658", "Écart de caisse", 100],
    ]);
    expect(cashDifferenceLines(11_150)).toEqual([
      ["531", "Écart de caisse", 50],
      ["758", "Écart de caisse", -50],
    ]);
  });

  it("have no cash difference if the counted cash matches, if cash was not counted, or if the config disables it", () => {
    expect(cashDifferenceLines(11_100)).toBeUndefined();
    expect(cashDifferenceLines(null)).toBeUndefined();
    expect(cashDifferenceLines(11_000, null)).toBeUndefined();
    expect(cashDifferenceLines(11_000, 10_000, { cashDifference: false })).toBeUndefined();
  });
});

describe("contradicting figures of a till", () => {
  const findGaps = (...args: Parameters<typeof createJournal>) => {
    const { entries, gaps } = createJournal(...args);
    expect(entries).toBeNull();
    return gaps?.map(({ orderCount, orders, ...gap }) => {
      expect(orders).toHaveLength(orderCount);
      return { ...gap, orders: orders.map(({ orderId, amount }) => [orderId, amount]) };
    });
  };
  const aOrder = { id: "aaaaaaaa-0000-4000-8000-000000000001" };

  it("are tolerated up to one cent for each VAT rate, booked as rounding", () => {
    const low = buildTestOrderProductRow({ taxableAmount: 999 });
    const high = buildTestOrderProductRow({ taxRate: 20, taxName: "TVA 20%", taxAmount: 184, taxableAmount: 917 });
    const order = createSoldOrder({
      total: 2200,
      productRowList: [low, high],
      paymentRowList: [buildTestOrderPaymentRow({ amount: 2200 })],
    });
    expect(journalLines([order])[0]).toEqual([
      ["5115", "Carte bancaire", 2200],
      ["70610", "Prestations de services 10 %", -999],
      ["4457110", "TVA collectée 10 %", -100],
      ["70620", "Prestations de services 20 %", -917],
      ["4457120", "TVA collectée 20 %", -184],
      ["758", "Arrondi de TVA", -1],
      ["658", "Arrondi de TVA", 1],
    ]);
  });

  it("are reported from two cents for a VAT rate", () => {
    const order = createSoldOrder({ ...aOrder, productRowList: [buildTestOrderProductRow({ taxableAmount: 998 })] });
    expect(findGaps([order, createSoldOrder()])).toEqual([
      {
        code: "vat",
        amount: 2,
        message:
          "Products at 10 % VAT cost 22.00 EUR, but are reported as 19.98 EUR without VAT plus 2.00 EUR of VAT: 0.02 EUR is missing.",
        orders: [[aOrder.id, 2]],
      },
    ]);
  });

  it("are reported when the total of an order differs from the prices of its products", () => {
    expect(findGaps([createSoldOrder({ ...aOrder, total: 1200, leftToPay: 100 })])).toEqual([
      {
        code: "products",
        amount: 100,
        message: "Orders total 12.00 EUR, but their products cost 11.00 EUR: 1.00 EUR is missing.",
        orders: [[aOrder.id, 100]],
      },
    ]);
  });

  it("are reported all at once, including payments that differ from sales", () => {
    const paid = createSoldOrder({
      ...aOrder,
      ...{ total: 1050, leftToPay: 100 },
      paymentRowList: [buildTestOrderPaymentRow({ amount: 1250 })],
    });
    expect(findGaps([paid])).toEqual([
      {
        code: "products",
        amount: -50,
        message: "Orders total 10.50 EUR, but their products cost 11.00 EUR: 0.50 EUR is too much.",
        orders: [[aOrder.id, -50]],
      },
      {
        code: "payments",
        amount: -300,
        message: "Orders total 10.50 EUR, but 13.50 EUR is paid or left to pay: 3.00 EUR is too much.",
        orders: [[aOrder.id, -300]],
      },
    ]);
  });

  it("name the orders with the largest differences, with what identifies them", () => {
    const orders = Array.from({ length: 25 }, (_, index) => createSoldOrder({ total: 1100 + index, tableName: "12" }));
    const { gaps } = createJournal(orders);
    const [products] = gaps ?? [];
    expect(products).toMatchObject({ code: "products", orderCount: 24, amount: 300 });
    expect(products?.orders).toHaveLength(20);
    expect(products?.orders[0]).toEqual({
      orderId: orders[24]?.id,
      ...{ openedAt: "2026-05-29T12:00:00.000Z", tableName: "12", total: 1124, amount: 24 },
    });
  });

  it("are reported when payments include the change, instead of booking it as owed to guests", () => {
    const cash = { amount: 1500, name: "Espèces", paymentMode: "cash" } as const;
    const includesChange = [
      [buildTestOrderPaymentRow({ ...cash, changeAmount: 400 })],
      [
        buildTestOrderPaymentRow(cash),
        buildTestOrderPaymentRow({ ...cash, amount: -400, name: "Rendu", paymentType: "change" }),
      ],
    ];
    for (const paymentRowList of includesChange) {
      expect(findGaps([createSoldOrder({ ...aOrder, paymentRowList })])).toMatchObject([
        { code: "payments", amount: -400, message: expect.stringContaining("must be net of change") },
      ]);
    }
  });
});

/** Two meal vouchers of 10.00 for 16.50. The law forbids change. */
const overpaidOrder = () => {
  const voucher = { amount: 1000, name: "Titre restaurant", paymentMode: "restaurantCheck" } as const;
  return createSoldOrder({
    ...{ total: 1650, leftToPay: 0 },
    productRowList: [buildTestOrderProductRow({ totalRow: 1650, taxableAmount: 1500, taxAmount: 150 })],
    paymentRowList: [buildTestOrderPaymentRow(voucher), buildTestOrderPaymentRow(voucher)],
  });
};

describe("overpaid orders", () => {
  it("are booked on account 4197, and do not make the till inconsistent", () => {
    expect(journalLines([overpaidOrder(), createSoldOrder()])[0]).toEqual([
      ["5118", "Titre restaurant", 2000],
      cardLine,
      ["70610", "Prestations de services 10 %", -2500],
      ["4457110", "TVA collectée 10 %", -250],
      ["4197", "Trop-perçus", -350],
    ]);
    expect(
      journalLines([overpaidOrder()], {}, { owedToCustomers: { account: "758", label: "Produits" } })[0],
    ).toContainEqual(["758", "Trop-perçus", -350]);
  });

  it("are booked as refunds that are owed if the amount left to pay is negative", () => {
    expect(journalLines([{ ...overpaidOrder(), leftToPay: -350 }])[0]).toContainEqual([
      "4197",
      "Remboursements dus",
      -350,
    ]);
  });

  it("of V1 tills, whose amount left to pay the API computes, are booked in the same way", () => {
    const voucher = () =>
      buildTestPaymentV1({ mode: paymentModes.indexOf("restaurantCheck"), amount: 1000, name: "TR" });
    const items = [buildTestTicketItemV1({ price: { tax: 10, amount: 1650 } })];
    const tillV1 = buildTestTillV1([buildTestTicketV1({ price: 1650, items, payments: [voucher(), voucher()] })]);
    const till = convertTillV1ToV2(tillV1, { tillId: tillV1.tillJson.client_id, timeZone: "Europe/Paris" });
    const report = computeDocuments(till, { locationId: randomUUID() })?.reportV2 ?? expect.unreachable();
    const accountingData = computeTillAccountingData(till, (instant) => instant.slice(0, 10));
    const { entries } = buildTillJournalEntries(
      report,
      accountingData,
      ReplaceAccountingConfigRequest.parse({}),
      "EUR",
    );
    expect(entries?.[0]?.lines.at(-1)).toMatchObject({ account: "4197", credit: 350 });
  });

  it("match the checks of the day", () => {
    const checks = checkDay([overpaidOrder()]);
    expect(checks.sales).toMatchObject({ status: "passed", difference: 0 });
    expect(checks.sales?.amounts).toContainEqual({ name: "owed", amount: 350 });
  });
});

describe("change that was given by another method than the payment", () => {
  const voucher = {
    name: "Titre restaurant",
    paymentMode: "restaurantCheck",
    changeAmount: 350,
    changePaymentName: "Espèces",
    changePaymentMode: "cash",
  } as const;
  const paidBy = (fields: Parameters<typeof buildTestOrderPaymentRow>[0]) =>
    createSoldOrder({ paymentRowList: [buildTestOrderPaymentRow(fields)] });
  const linesOfChange = (fields: Parameters<typeof buildTestOrderPaymentRow>[0], rules: Rules = {}) =>
    journalLines([paidBy(fields)], {}, rules)[0]?.filter(([, text]) => text.startsWith("Rendu"));

  it("is debited to the payment's account and credited to the account of the change", () => {
    const rendered = "Rendu sur Titre restaurant";
    expect(linesOfChange(voucher)).toEqual([
      ["5118", rendered, 350],
      ["531", rendered, -350],
    ]);
    expect(linesOfChange({ ...voucher, paymentType: "customerAccount" })?.[0]).toEqual(["411", rendered, 350]);
    expect(linesOfChange({ ...voucher, changePaymentMode: "credit", changePaymentName: "Avoir" })?.[1]).toEqual([
      "4197",
      rendered,
      -350,
    ]);
    const paymentMethods = [{ name: "Avoir", account: "41971", label: "Avoirs" }];
    const creditNote = { ...voucher, changePaymentMode: "restaurantCheck", changePaymentName: "Avoir" } as const;
    expect(linesOfChange(creditNote, { paymentMethods })?.[1]).toEqual(["41971", rendered, -350]);
  });

  it("adds no lines if it was given by the method of the payment, or if the payment was not validated", () => {
    for (const fields of [
      { changePaymentMode: null, changePaymentName: null },
      { changePaymentMode: "restaurantCheck", changePaymentName: null },
      { changePaymentMode: "restaurantCheck", changePaymentName: "Titre restaurant" },
      { changePaymentMode: "custom", changePaymentName: "Autre titre" },
    ] as const)
      expect(linesOfChange({ ...voucher, ...fields })).toEqual([]);
    const pending = { ...paidBy({ ...voucher, status: "pending" }), leftToPay: 1100 };
    expect(journalLines([pending])[0]).toEqual([["411", "Reste à payer", 1100], ...salesLines]);
  });

  it.each([
    ["in cash for a voucher", voucher, 10_000 - 350],
    ["on a voucher that paid for a canceled order", { ...voucher, isCanceled: true }, 10_000 - 350],
    ["in cash for a tip by card", { ...voucher, paymentType: "tip", paymentMode: "card" }, 10_000 - 350],
    ["as a credit note for cash", { ...voucher, paymentMode: "cash", changePaymentMode: "credit" }, 11_100 + 350],
    ["in cash for cash", { ...voucher, paymentMode: "cash" }, 11_100],
  ] as const)("%s counts in the expected cash of the journal and of the day", (_, fields, counted) => {
    const { isCanceled = false, ...payment } = { isCanceled: false, ...fields };
    const order = { ...paidBy(payment), isCanceled };
    const till = { initialCashBalance: 10_000, finalCashBalance: counted };
    if (fields.paymentMode !== "card") expect(journalLines([order], till)).toHaveLength(1);
    expect(checkDay([order], till).cash).toMatchObject({ status: "passed", difference: 0 });
    expect(checkDay([order], { ...till, finalCashBalance: counted + 1 }).cash).toMatchObject({ difference: 1 });
  });
});
