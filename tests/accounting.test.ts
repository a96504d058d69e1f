import { randomUUID } from "node:crypto";
import { type AccountingRules, ReplaceAccountingConfig } from "@pragma/contracts/accounting-config";
import { type AccountingProvider, accountingProviders } from "@pragma/contracts/accounting-export";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { TillV2 } from "@pragma/contracts/till-v2";
import { fileFormats } from "@pragma/reporting/accounting/fec/formats";
import { fecHeader } from "@pragma/reporting/accounting/fec/write-fec";
import { type TillFacts, tillFacts } from "@pragma/reporting/accounting/till-facts";
import writeTill from "@pragma/reporting/accounting/write-till";
import { computeReport } from "@pragma/reporting/calculate/compute-report";
import { generateTill } from "@pragma/simulator/generate-till";
import { Random } from "@pragma/simulator/random";
import { beforeAll, describe, expect, it } from "vitest";
import { type FecLine, readFec } from "./accounting/read-fec.ts";

/** ACCOUNTING_TILLS tills of as many restaurants, the first of which is number ACCOUNTING_SEED. */
const count = Number(process.env.ACCOUNTING_TILLS ?? 200);
const firstSeed = Number(process.env.ACCOUNTING_SEED ?? 1);

interface Case {
  till: TillV2;
  report: ReportV2;
  facts: TillFacts;
}

const net = ReplaceAccountingConfig.parse({});
const gross = ReplaceAccountingConfig.parse({ discountBooking: "gross" });
const readings = {
  INEXWEB: { separator: "\t", charset: "iso-8859-15" },
  FULLL: { separator: "\t", charset: "iso-8859-15" },
  ISACOMPTA: { separator: "|", charset: "us-ascii" },
} as const;

/** Days of many special cases and days of few; of some the counted cash is not what it should be. */
function newCase(seed: number): Case {
  const random = new Random(`accounting ${seed}`);
  const mix = {
    refundOrder: 0.06,
    giftedOrder: 0.04,
    account: 0.15,
    unsettledPayment: 0.08,
    tip: 0.3,
    canceledOrder: 0.08,
  };
  const generated = generateTill({
    seed,
    orders: random.integer(0, 90),
    day: `2026-${String(random.integer(1, 12)).padStart(2, "0")}-${String(random.integer(1, 28)).padStart(2, "0")}`,
    ...(random.chance(0.5) && { mix }),
  });
  const counted = generated.finalCashBalance;
  const till = TillV2.parse({
    ...generated,
    finalCashBalance:
      counted !== null && random.chance(0.5) ? Math.max(0, counted + random.integer(-900, 900)) : counted,
  });
  const report = computeReport(till, { locationId: randomUUID() })?.reportV2 ?? expect.unreachable();
  return { till, report, facts: tillFacts(till, (instant) => instant.slice(0, 10)) };
}

let cases: Case[];
beforeAll(() => {
  cases = Array.from({ length: count }, (_, index) => newCase(firstSeed + index));
});

/** What a till gives to a file that has so many entries. */
function written(
  { report, facts }: Case,
  {
    provider,
    config,
    entriesBefore = 0,
  }: { provider: AccountingProvider; config: AccountingRules; entriesBefore?: number },
) {
  const stored = { v2: JSON.stringify(report), accountingFacts: JSON.stringify(facts) };
  const till = writeTill({ stored, provider, config: JSON.stringify(config), entriesBefore });
  return till.failure === null ? till : expect.unreachable(till.failure.message);
}

/** The file of one till, read back. */
function exported(each: Case, provider: AccountingProvider, config: AccountingRules): FecLine[] {
  const { lines } = written(each, { provider, config });
  return readFec(Buffer.concat([fecHeader(fileFormats[provider]), lines]), readings[provider]);
}

const sum = <T>(items: T[], amount: (item: T) => number) => items.reduce((total, item) => total + amount(item), 0);
const balanceOf = (lines: FecLine[]) => sum(lines, ({ debit, credit }) => debit - credit);
const creditOf = (lines: FecLine[]) => sum(lines, ({ debit, credit }) => credit - debit);
const on = (lines: FecLine[], { account }: { account: string }) => lines.filter((line) => line.account === account);
const ofFirstEntry = (lines: FecLine[]) => lines.filter(({ entry }) => entry === 1);

/** What lines of this text add up to, debit less credit. */
const saying = (lines: FecLine[], text: string, report: ReportV2) =>
  balanceOf(lines.filter((line) => line.text === `Caisse Z${report.reportNumber} ${text}`));

describe(`${count} generated tills`, () => {
  it("are each of them exported as a file that a strict reader of FECs takes, for every provider", () => {
    for (const each of cases) {
      for (const provider of accountingProviders) {
        for (const config of [net, gross]) expect(balanceOf(exported(each, provider, config))).toBe(0);
      }
    }
  });

  it("show everything that is out of the ordinary", () => {
    const facts = cases.map((each) => each.facts);
    const payments = cases.flatMap(({ report }) => report.reportRecordedPayments);
    const entries = cases.flatMap(({ report }) => report.reportEntries);
    const rows = cases.flatMap(({ till }) => till.orderList.flatMap((order) => order.productRowList));
    expect(facts.some(({ unpaid }) => unpaid > 0)).toBe(true);
    expect(facts.some(({ owed }) => owed > 0)).toBe(true);
    expect(facts.some(({ paidInVain }) => paidInVain > 0)).toBe(true);
    expect(facts.some(({ cash }) => cash === null)).toBe(true);
    expect(payments.some(({ paymentType }) => paymentType === "tip")).toBe(true);
    expect(payments.some(({ tipsAmount }) => tipsAmount > 0)).toBe(true);
    expect(payments.some(({ paymentType }) => paymentType === "customerAccount")).toBe(true);
    expect(payments.some(({ paymentMode }) => paymentMode === "deposit")).toBe(true);
    const paid = cases.flatMap(({ till }) => till.orderList.flatMap((order) => order.paymentRowList));
    expect(paid.some(({ amount }) => amount < 0)).toBe(true);
    expect(new Set(entries.map(({ entryType }) => entryType)).size).toBe(4);
    expect(rows.some((row) => row.quantity < 0)).toBe(true);
    expect(rows.some((row) => row.isTransferred)).toBe(true);
    expect(cases.some(({ report }) => report.reportDiscounts.some(({ gifted }) => gifted))).toBe(true);
  });

  it("have the report's VAT, rate by rate, however discounts are booked", () => {
    for (const each of cases) {
      for (const config of [net, gross]) {
        const lines = exported(each, "FULLL", config);
        for (const { taxRate, account } of config.collectedVat) {
          const taxes = each.report.reportTaxes.filter((tax) => tax.taxRate === taxRate);
          expect(creditOf(on(lines, { account }))).toBe(sum(taxes, ({ taxAmount }) => taxAmount));
        }
      }
    }
  });

  it("have the report's payments, method by method", () => {
    for (const each of cases) {
      const lines = ofFirstEntry(exported(each, "FULLL", net));
      const payments = each.report.reportRecordedPayments;
      for (const name of new Set(payments.map((payment) => payment.name ?? ""))) {
        const named = payments.filter((payment) => payment.name === name);
        expect(saying(lines, name, each.report)).toBe(sum(named, ({ totalAmount }) => totalAmount));
      }
      const tips = sum(each.report.reportRecordedPayments, (payment) =>
        payment.paymentType === "tip" ? payment.totalAmount : payment.tipsAmount,
      );
      expect(creditOf(on(lines, net.tips))).toBe(tips);
    }
  });

  it("have what is unpaid on 411, deposits on 4191, and the drawer's movements by what they are for", () => {
    for (const each of cases) {
      const { report, till } = each;
      const lines = exported(each, "FULLL", net);
      const counting = till.orderList.filter((order) => !order.isCanceled && !order.isTransferred && !order.isTraining);
      const left = counting.filter(({ leftToPay }) => leftToPay > 0);
      expect(saying(lines, "Reste à payer", report)).toBe(sum(left, ({ leftToPay }) => leftToPay));
      const moved = (type: string) =>
        sum(
          report.reportEntries.filter((entry) => entry.entryType === type),
          ({ entryAmount }) => entryAmount,
        );
      const paidWith = (mode: string) =>
        sum(
          report.reportRecordedPayments.filter(({ paymentMode }) => paymentMode === mode),
          ({ totalAmount }) => totalAmount,
        );
      expect(creditOf(on(lines, net.deposits))).toBe(moved("deposit") - paidWith("deposit"));
      expect(creditOf(on(lines, net.cashIn))).toBe(moved("cash-in"));
      expect(creditOf(on(lines, net.cashOut))).toBe(moved("cash-out"));
      const unpaid = sum(left, ({ leftToPay }) => leftToPay) + paidWith("debt") - moved("customerAccount");
      expect(balanceOf(on(lines, net.unpaid))).toBe(unpaid);
    }
  });

  it("leave on the cash account what was counted in the drawer, less what was there at the start", () => {
    for (const each of cases.filter(({ facts }) => facts.cash)) {
      const { initialCashBalance: initial, finalCashBalance: counted } = each.till;
      const cash = balanceOf(on(exported(each, "FULLL", net), net.payments.cash));
      expect(cash).toBe((counted ?? 0) - (initial ?? 0));
    }
  });

  it("have sales net of discounts, or gross with the discounts on 709, and the same result either way", () => {
    for (const each of cases) {
      const { report } = each;
      const [netLines, grossLines] = [exported(each, "FULLL", net), exported(each, "FULLL", gross)];
      const salesOf = (lines: FecLine[]) => creditOf(lines.filter(({ account }) => account.startsWith("706")));
      const given = sum(
        report.reportDiscounts.flatMap(({ taxRepartition }) => taxRepartition),
        ({ taxableAmount }) => taxableAmount,
      );
      expect(on(netLines, net.discounts)).toEqual([]);
      expect(salesOf(netLines)).toBe(sum(report.reportTaxes, ({ taxableAmount }) => taxableAmount));
      expect(balanceOf(on(grossLines, gross.discounts))).toBe(given);
      expect(salesOf(grossLines) - given).toBe(salesOf(netLines));
    }
  });

  it("come into one file, numbered through", () => {
    for (const provider of accountingProviders) {
      const pieces: Uint8Array[] = [fecHeader(fileFormats[provider])];
      let entriesBefore = 0;
      for (const each of cases) {
        const { lines, entries } = written(each, { provider, config: net, entriesBefore });
        pieces.push(lines);
        entriesBefore += entries;
      }
      const lines = readFec(Buffer.concat(pieces), readings[provider]);
      expect(lines.at(-1)?.entry).toBe(entriesBefore);
    }
  });
});
