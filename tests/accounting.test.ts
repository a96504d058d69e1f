import { randomUUID } from "node:crypto";
import { type AccountingRules, ReplaceAccountingConfig } from "@pragma/contracts/accounting-config";
import { type AccountingProvider, accountingProviders } from "@pragma/contracts/accounting-export";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { TillV2 } from "@pragma/contracts/till-v2";
import { fecFileFormats } from "@pragma/reporting/accounting/fec/file-formats";
import { encodeFecHeader } from "@pragma/reporting/accounting/fec/write-fec";
import { computeTillAccountingData, type TillAccountingData } from "@pragma/reporting/accounting/till-accounting-data";
import writeTillEntries from "@pragma/reporting/accounting/write-till-entries";
import { computeReport } from "@pragma/reporting/calculation/compute-report";
import { generateTill } from "@pragma/simulator/generate-till";
import { Random } from "@pragma/simulator/random";
import { beforeAll, describe, expect, it } from "vitest";
import { type FecLine, readFec } from "./accounting/read-fec.ts";

/** ACCOUNTING_TILLS tills of as many restaurants, the first of which is number ACCOUNTING_SEED. */
const caseCount = Number(process.env.ACCOUNTING_TILLS ?? 200);
const firstSeed = Number(process.env.ACCOUNTING_SEED ?? 1);

interface AccountingCase {
  till: TillV2;
  report: ReportV2;
  facts: TillAccountingData;
}

const netConfig = ReplaceAccountingConfig.parse({});
const grossConfig = ReplaceAccountingConfig.parse({ discountBooking: "gross" });
const readings = {
  INEXWEB: { separator: "\t", charset: "iso-8859-15" },
  FULLL: { separator: "\t", charset: "iso-8859-15" },
  ISACOMPTA: { separator: "|", charset: "us-ascii" },
} as const;

/** Days of many special cases and days of few; of some the counted cash is not what it should be. */
function createAccountingCase(seed: number): AccountingCase {
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
  return { till, report, facts: computeTillAccountingData(till, (instant) => instant.slice(0, 10)) };
}

let accountingCases: AccountingCase[];
beforeAll(() => {
  accountingCases = Array.from({ length: caseCount }, (_, index) => createAccountingCase(firstSeed + index));
});

/** What a till gives to a file that has so many entries. */
function writeAccountingFile(
  { report, facts }: AccountingCase,
  {
    provider,
    config,
    entriesBefore = 0,
  }: { provider: AccountingProvider; config: AccountingRules; entriesBefore?: number },
) {
  const stored = { v2: JSON.stringify(report), accountingFacts: JSON.stringify(facts) };
  const till = writeTillEntries({ stored, provider, config: JSON.stringify(config), entriesBefore });
  return till.failure === null ? till : expect.unreachable(till.failure.message);
}

/** The file of one till, read back. */
function exportLines(each: AccountingCase, provider: AccountingProvider, config: AccountingRules): FecLine[] {
  const { lines } = writeAccountingFile(each, { provider, config });
  return readFec(Buffer.concat([encodeFecHeader(fecFileFormats[provider]), lines]), readings[provider]);
}

const sumAmounts = <T>(items: T[], amount: (item: T) => number) =>
  items.reduce((total, item) => total + amount(item), 0);
const computeBalance = (lines: FecLine[]) => sumAmounts(lines, ({ debit, credit }) => debit - credit);
const computeCredit = (lines: FecLine[]) => sumAmounts(lines, ({ debit, credit }) => credit - debit);
const linesOnAccount = (lines: FecLine[], { account }: { account: string }) =>
  lines.filter((line) => line.account === account);
const linesOfFirstEntry = (lines: FecLine[]) => lines.filter(({ entry }) => entry === 1);

/** What lines of this text add up to, debit less credit. */
const linesWithText = (lines: FecLine[], text: string, report: ReportV2) =>
  computeBalance(lines.filter((line) => line.text === `Caisse Z${report.reportNumber} ${text}`));

describe(`${caseCount} generated tills`, () => {
  it("are each of them exported as a file that a strict reader of FECs takes, for every provider", () => {
    for (const each of accountingCases) {
      for (const provider of accountingProviders) {
        for (const config of [netConfig, grossConfig])
          expect(computeBalance(exportLines(each, provider, config))).toBe(0);
      }
    }
  });

  it("show everything that is out of the ordinary", () => {
    const facts = accountingCases.map((each) => each.facts);
    const payments = accountingCases.flatMap(({ report }) => report.reportRecordedPayments);
    const entries = accountingCases.flatMap(({ report }) => report.reportEntries);
    const rows = accountingCases.flatMap(({ till }) => till.orderList.flatMap((order) => order.productRowList));
    expect(facts.some(({ unpaid }) => unpaid > 0)).toBe(true);
    expect(facts.some(({ owed }) => owed > 0)).toBe(true);
    expect(facts.some(({ paidInVain }) => paidInVain > 0)).toBe(true);
    expect(facts.some(({ cash }) => cash === null)).toBe(true);
    expect(payments.some(({ paymentType }) => paymentType === "tip")).toBe(true);
    expect(payments.some(({ tipsAmount }) => tipsAmount > 0)).toBe(true);
    expect(payments.some(({ paymentType }) => paymentType === "customerAccount")).toBe(true);
    expect(payments.some(({ paymentMode }) => paymentMode === "deposit")).toBe(true);
    const paid = accountingCases.flatMap(({ till }) => till.orderList.flatMap((order) => order.paymentRowList));
    expect(paid.some(({ amount }) => amount < 0)).toBe(true);
    expect(new Set(entries.map(({ entryType }) => entryType)).size).toBe(4);
    expect(rows.some((row) => row.quantity < 0)).toBe(true);
    expect(rows.some((row) => row.isTransferred)).toBe(true);
    expect(accountingCases.some(({ report }) => report.reportDiscounts.some(({ gifted }) => gifted))).toBe(true);
  });

  it("have the report's VAT, rate by rate, however discounts are booked", () => {
    for (const each of accountingCases) {
      for (const config of [netConfig, grossConfig]) {
        const lines = exportLines(each, "FULLL", config);
        for (const { taxRate, account } of config.collectedVat) {
          const taxes = each.report.reportTaxes.filter((tax) => tax.taxRate === taxRate);
          expect(computeCredit(linesOnAccount(lines, { account }))).toBe(
            sumAmounts(taxes, ({ taxAmount }) => taxAmount),
          );
        }
      }
    }
  });

  it("have the report's payments, method by method", () => {
    for (const each of accountingCases) {
      const lines = linesOfFirstEntry(exportLines(each, "FULLL", netConfig));
      const payments = each.report.reportRecordedPayments;
      for (const name of new Set(payments.map((payment) => payment.name ?? ""))) {
        const named = payments.filter((payment) => payment.name === name);
        expect(linesWithText(lines, name, each.report)).toBe(sumAmounts(named, ({ totalAmount }) => totalAmount));
      }
      const tips = sumAmounts(each.report.reportRecordedPayments, (payment) =>
        payment.paymentType === "tip" ? payment.totalAmount : payment.tipsAmount,
      );
      expect(computeCredit(linesOnAccount(lines, netConfig.tips))).toBe(tips);
    }
  });

  it("have what is unpaid on 411, deposits on 4191, and the drawer's movements by what they are for", () => {
    for (const each of accountingCases) {
      const { report, till } = each;
      const lines = exportLines(each, "FULLL", netConfig);
      const counting = till.orderList.filter((order) => !order.isCanceled && !order.isTransferred && !order.isTraining);
      const left = counting.filter(({ leftToPay }) => leftToPay > 0);
      expect(linesWithText(lines, "Reste à payer", report)).toBe(sumAmounts(left, ({ leftToPay }) => leftToPay));
      const moved = (type: string) =>
        sumAmounts(
          report.reportEntries.filter((entry) => entry.entryType === type),
          ({ entryAmount }) => entryAmount,
        );
      const paidWith = (mode: string) =>
        sumAmounts(
          report.reportRecordedPayments.filter(({ paymentMode }) => paymentMode === mode),
          ({ totalAmount }) => totalAmount,
        );
      expect(computeCredit(linesOnAccount(lines, netConfig.deposits))).toBe(moved("deposit") - paidWith("deposit"));
      expect(computeCredit(linesOnAccount(lines, netConfig.cashIn))).toBe(moved("cash-in"));
      expect(computeCredit(linesOnAccount(lines, netConfig.cashOut))).toBe(moved("cash-out"));
      const unpaid = sumAmounts(left, ({ leftToPay }) => leftToPay) + paidWith("debt") - moved("customerAccount");
      expect(computeBalance(linesOnAccount(lines, netConfig.unpaid))).toBe(unpaid);
    }
  });

  it("leave on the cash account what was counted in the drawer, less what was there at the start", () => {
    for (const each of accountingCases.filter(({ facts }) => facts.cash)) {
      const { initialCashBalance: initial, finalCashBalance: counted } = each.till;
      const cash = computeBalance(linesOnAccount(exportLines(each, "FULLL", netConfig), netConfig.payments.cash));
      expect(cash).toBe((counted ?? 0) - (initial ?? 0));
    }
  });

  it("have sales net of discounts, or gross with the discounts on 709, and the same result either way", () => {
    for (const each of accountingCases) {
      const { report } = each;
      const [netLines, grossLines] = [exportLines(each, "FULLL", netConfig), exportLines(each, "FULLL", grossConfig)];
      const salesOf = (lines: FecLine[]) => computeCredit(lines.filter(({ account }) => account.startsWith("706")));
      const given = sumAmounts(
        report.reportDiscounts.flatMap(({ taxRepartition }) => taxRepartition),
        ({ taxableAmount }) => taxableAmount,
      );
      expect(linesOnAccount(netLines, netConfig.discounts)).toEqual([]);
      expect(salesOf(netLines)).toBe(sumAmounts(report.reportTaxes, ({ taxableAmount }) => taxableAmount));
      expect(computeBalance(linesOnAccount(grossLines, grossConfig.discounts))).toBe(given);
      expect(salesOf(grossLines) - given).toBe(salesOf(netLines));
    }
  });

  it("come into one file, numbered through", () => {
    for (const provider of accountingProviders) {
      const pieces: Uint8Array[] = [encodeFecHeader(fecFileFormats[provider])];
      let entriesBefore = 0;
      for (const each of accountingCases) {
        const { lines, entries } = writeAccountingFile(each, { provider, config: netConfig, entriesBefore });
        pieces.push(lines);
        entriesBefore += entries;
      }
      const lines = readFec(Buffer.concat(pieces), readings[provider]);
      expect(lines.at(-1)?.entry).toBe(entriesBefore);
    }
  });
});
