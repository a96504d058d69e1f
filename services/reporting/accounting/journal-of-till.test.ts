import { type AccountingRules, ReplaceAccountingConfig } from "@pragma/contracts/accounting-config";
import type { TillV2Input } from "@pragma/contracts/till-v2";
import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { computeReport } from "../calculate/compute-report.ts";
import { makeDiscount, makeMenu, makeOrder, makePayment, makeRow, makeTill } from "../testing/make-till.ts";
import { tillFacts } from "./till-facts.ts";
import { journalOfTill } from "./write-till.ts";

type Rules = z.input<typeof ReplaceAccountingConfig>;
type Orders = TillV2Input["orderList"];

function journalOf(orders: Orders, fields: Partial<TillV2Input> = {}, rules: Rules = {}) {
  const till = makeTill(orders, fields);
  const report = computeReport(till, { locationId: "7d0c1c1e-4f6f-4c8b-9c53-0f8f4c1f9a11" })?.reportV2;
  if (!report) throw new Error("A till made in school mode has no report");
  const config: AccountingRules = ReplaceAccountingConfig.parse(rules);
  return journalOfTill(
    report,
    tillFacts(till, (instant) => instant.slice(0, 10)),
    config,
  );
}

/** Each line as its account, what it says, and its amount, above 0 for debit. */
function linesOf(...given: Parameters<typeof journalOf>): [string, string, number][][] {
  const { entries, gaps } = journalOf(...given);
  if (!entries) throw new Error(JSON.stringify(gaps));
  return entries.map(({ lines }) =>
    lines.map(({ account, text, debit, credit }) => [account, text.replace("Caisse Z1 ", ""), debit - credit]),
  );
}

/** Sold for 11.00 with 10% of VAT, and paid by card, but for what a test is about. */
const sold = (fields: Parameters<typeof makeOrder>[0] = {}) =>
  makeOrder({ total: 1100, productRowList: [makeRow()], paymentRowList: [makePayment()], ...fields });

const sales: [string, string, number][] = [
  ["70610", "Prestations de services 10 %", -1000],
  ["4457110", "TVA collectée 10 %", -100],
];
const card: [string, string, number] = ["5115", "Carte bancaire", 1100];

describe("what was sold", () => {
  it("is credited without VAT and as VAT, and debited as it was paid", () => {
    expect(linesOf([sold()])).toEqual([[card, ...sales]]);
  });

  it("is on the accounts of its rates, and on the others' where a rate has none", () => {
    const row = makeRow({ taxRate: 8.5, taxName: "TVA 8,5%", totalRow: 1085, taxAmount: 85, taxableAmount: 1000 });
    const order = sold({ total: 1085, productRowList: [row], paymentRowList: [makePayment({ amount: 1085 })] });
    expect(linesOf([order])[0]?.slice(1)).toEqual([
      ["706", "Prestations de services", -1000],
      ["44571", "TVA collectée", -85],
    ]);
    const own = { sales: [{ taxRate: 850, account: "7078", label: "Antilles" }] };
    expect(linesOf([order], {}, own)[0]?.[1]).toEqual(["7078", "Antilles", -1000]);
  });

  it("in a menu counts once", () => {
    const menu = makeMenu({ productRowList: [makeRow()] });
    expect(linesOf([sold({ productRowList: [], menuRowList: [menu] })])).toEqual([[card, ...sales]]);
  });

  it("is debited when it was taken back", () => {
    const row = makeRow({ quantity: -1, totalRow: -1100, taxAmount: -100, taxableAmount: -1000 });
    const back = { total: -1100, productRowList: [row] };
    expect(linesOf([sold({ ...back, paymentRowList: [makePayment({ amount: -1100 })] })])).toEqual([
      [card, ...sales].map(([account, text, amount]) => [account, text, -Number(amount)]),
    ]);
    const owed = linesOf([sold({ ...back, paymentRowList: [], leftToPay: 0 })])[0];
    expect(owed).toContainEqual(["4197", "Remboursements dus", -1100]);
  });

  it("is not there when nothing happened", () => {
    expect(linesOf([])).toEqual([]);
  });
});

describe("discounts", () => {
  const discounted = sold({
    total: 990,
    productRowList: [
      makeRow({
        totalRow: 990,
        totalDiscount: 110,
        taxAmount: 90,
        taxableAmount: 900,
        discountRowList: [makeDiscount()],
      }),
    ],
    paymentRowList: [makePayment({ amount: 990 })],
  });
  const vat = ["4457110", "TVA collectée 10 %", -90];

  it("are nowhere when sales are net of them", () => {
    expect(linesOf([discounted])[0]?.slice(1)).toEqual([["70610", "Prestations de services 10 %", -900], vat]);
  });

  it("are on 709 when sales are gross, and VAT is the same", () => {
    expect(linesOf([discounted], {}, { discountBooking: "gross" })[0]?.slice(1)).toEqual([
      ["709", "Remises sur ventes à 10 %", 100],
      ["70610", "Prestations de services 10 %", -1000],
      vat,
    ]);
  });
});

describe("how it was paid", () => {
  const paidBy = (...payments: Parameters<typeof makePayment>[0][]) =>
    sold({ paymentRowList: payments.map((payment) => makePayment(payment)) });

  it("is on the account of the mode, or of the method where its name has one", () => {
    const order = paidBy({ name: "Ticket Restaurant", paymentMode: "restaurantCheck" });
    expect(linesOf([order])[0]?.[0]).toEqual(["5118", "Ticket Restaurant", 1100]);
    const paymentMethods = [{ name: "Ticket Restaurant", account: "51182", label: "Titres" }];
    expect(linesOf([order], {}, { paymentMethods })[0]?.[0]).toEqual(["51182", "Ticket Restaurant", 1100]);
    const payments = { restaurantCheck: { account: "51183" } };
    expect(linesOf([order], {}, { payments })[0]?.[0]).toEqual(["51183", "Ticket Restaurant", 1100]);
  });

  it("is 411 for what is left open, owed or put on an account", () => {
    expect(linesOf([sold({ leftToPay: 1100, paymentRowList: [] })])[0]?.[0]).toEqual(["411", "Reste à payer", 1100]);
    const onAccount = paidBy({ name: "Compte", paymentMode: "debt", paymentType: "customerAccount" });
    expect(linesOf([onAccount])[0]?.[0]).toEqual(["411", "Compte", 1100]);
    expect(linesOf([paidBy({ name: "Dette", paymentMode: "debt" })])[0]?.[0]).toEqual(["411", "Dette", 1100]);
  });

  it("is 4191 when a deposit is used up", () => {
    expect(linesOf([paidBy({ name: "Arrhes", paymentMode: "deposit" })])[0]?.[0]).toEqual(["4191", "Arrhes", 1100]);
  });

  it("has tips on 467, on top of payments and as payments of their own", () => {
    const tip = { amount: 150, name: "Pourboire", paymentType: "tip", paymentMode: "cash" } as const;
    expect(linesOf([paidBy({ tipAmount: 200 }, tip)])).toEqual([
      [
        card,
        ["5115", "Pourboires Carte bancaire", 200],
        ["531", "Pourboire", 150],
        ...sales,
        ["467", "Pourboires", -350],
      ],
    ]);
  });

  it("leaves out what was not validated, and rows that only tell of change and discounts", () => {
    const order = paidBy(
      {},
      { status: "pending" },
      { status: "cancelled" },
      { paymentType: "change", amount: 400, name: "Rendu" },
      { paymentType: "discount", amount: 300, name: "Remise" },
    );
    expect(linesOf([order])).toEqual([[card, ...sales]]);
  });

  it("is owed to the customer when the order was canceled after all", () => {
    expect(linesOf([sold({ isCanceled: true })])).toEqual([[card, ["4197", "Commandes annulées déjà payées", -1100]]]);
  });

  it("carries the customers' auxiliary account where the config has one", () => {
    const customerAuxiliary = { account: "CLIDIVERS", label: "Clients divers" };
    const { entries } = journalOf([sold({ leftToPay: 1100, paymentRowList: [] })], {}, { customerAuxiliary });
    expect(entries?.[0]?.lines.map(({ auxiliary }) => auxiliary)).toEqual([customerAuxiliary, null, null]);
  });
});

describe("the drawer", () => {
  const movement = (type: string, amount: number, more: object = {}) => ({ type, amount, name: "Motif", ...more });
  const moved = (...movements: object[]) => linesOf([], { financialMovementList: movements as never });

  it.each([
    ["cash-in", 2000, "580"],
    ["cash-out", -2000, "471"],
    ["deposit", 2000, "4191"],
    ["customerAccount", 2000, "411"],
  ])("has a %s of %i on 531 and %s", (type, amount, account) => {
    const lines = [
      ["531", "Motif", amount],
      [account, "Motif", -amount],
    ];
    expect(moved(movement(type, amount))).toEqual([lines]);
  });

  it("has a deposit that was paid by card on the card's account", () => {
    expect(moved(movement("deposit", 5000, { paymentMode: "card" }))[0]?.[0]).toEqual(["5115", "Motif", 5000]);
  });

  const counted = (finalCashBalance: number | null, initialCashBalance: number | null = 10_000, rules: Rules = {}) =>
    linesOf(
      [sold({ paymentRowList: [makePayment({ name: "Espèces", paymentMode: "cash" })] })],
      { initialCashBalance, finalCashBalance },
      rules,
    )[1];

  it("has missing cash on 658, and cash too much on 758", () => {
    expect(counted(11_000)).toEqual([
      ["531", "Écart de caisse", -100],
      ["658", "Écart de caisse", 100],
    ]);
    expect(counted(11_150)).toEqual([
      ["531", "Écart de caisse", 50],
      ["758", "Écart de caisse", -50],
    ]);
  });

  it("has no difference when there is none, when the cash was not counted, and when none is wanted", () => {
    expect(counted(11_100)).toBeUndefined();
    expect(counted(null)).toBeUndefined();
    expect(counted(11_000, null)).toBeUndefined();
    expect(counted(11_000, 10_000, { cashDifference: false })).toBeUndefined();
  });
});

describe("figures that contradict each other", () => {
  const gapsOf = (...given: Parameters<typeof journalOf>) => {
    const { entries, gaps } = journalOf(...given);
    expect(entries).toBeNull();
    return gaps;
  };

  it("are put right by a cent of rounding for each VAT rate", () => {
    const low = makeRow({ taxableAmount: 999 });
    const high = makeRow({ taxRate: 20, taxName: "TVA 20%", taxAmount: 184, taxableAmount: 917 });
    const order = sold({ total: 2200, productRowList: [low, high], paymentRowList: [makePayment({ amount: 2200 })] });
    expect(linesOf([order])[0]).toEqual([
      ["5115", "Carte bancaire", 2200],
      ["70610", "Prestations de services 10 %", -999],
      ["4457110", "TVA collectée 10 %", -100],
      ["70620", "Prestations de services 20 %", -917],
      ["4457120", "TVA collectée 20 %", -184],
      ["758", "Arrondi de TVA", -1],
      ["658", "Arrondi de TVA", 1],
    ]);
  });

  it("are named when they are two cents of a VAT rate", () => {
    expect(gapsOf([sold({ productRowList: [makeRow({ taxableAmount: 998 })] })])).toEqual([
      {
        code: "vat",
        amount: 2,
        message: "At 10 % products cost 11.00, but are 9.98 without VAT and 1.00 of VAT: 0.02 is missing.",
      },
    ]);
  });

  it("are named when an order was not sold for what its products cost", () => {
    expect(gapsOf([sold({ total: 1200, leftToPay: 100 })])).toEqual([
      {
        code: "products",
        amount: 100,
        message: "Orders were sold for 12.00, their products cost 11.00: 1.00 is missing.",
      },
    ]);
  });

  it("are named when more or less was paid than was sold, all gaps at once", () => {
    const paid = sold({ total: 1050, paymentRowList: [makePayment({ amount: 1350 })] });
    expect(gapsOf([paid])).toEqual([
      {
        code: "products",
        amount: -50,
        message: "Orders were sold for 10.50, their products cost 11.00: 0.50 is too much.",
      },
      {
        code: "payments",
        amount: -300,
        message: "Orders were sold for 10.50, 13.50 is paid or left to pay: 3.00 is too much.",
      },
    ]);
  });
});
