import { randomUUID } from "node:crypto";
import { type AccountingRules, ReplaceAccountingConfigRequest } from "@pragma/contracts/accounting-config";
import { type AccountingProvider, accountingProviders } from "@pragma/contracts/accounting-export";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { TillV2 } from "@pragma/contracts/till-v2";
import { encodeFecHeader, fecFileFormatsByProvider } from "@pragma/reporting/accounting/fec/file-formats";
import writeTillEntries from "@pragma/reporting/accounting/write-till-entries";
import { computeDocuments } from "@pragma/reporting/calculation/compute-report";
import {
  computeTillAccountingData,
  type TillAccountingData,
} from "@pragma/reporting/calculation/settlement/till-accounting-data";
import { generateTill } from "@pragma/simulator/generate-till";
import { SeededRandom } from "@pragma/simulator/random";
import { beforeAll, describe, expect, it } from "vitest";
import { type ParsedFecLine, parseAndValidateFecFile } from "./accounting/read-fec.ts";

/** Number of generated tills, each of a different restaurant. `ACCOUNTING_SEED` is the seed of the first till. */
const caseCount = Number(process.env.ACCOUNTING_TILLS ?? 100);
const firstSeed = Number(process.env.ACCOUNTING_SEED ?? 1);

interface AccountingCase {
  till: TillV2;
  report: ReportV2;
  accountingData: TillAccountingData;
}

const netConfig = ReplaceAccountingConfigRequest.parse({});
const grossConfig = ReplaceAccountingConfigRequest.parse({ discountBooking: "gross" });
const fecFormats = {
  INEXWEB: { separator: "\t", charset: "iso-8859-15" },
  FULLL: { separator: "\t", charset: "iso-8859-15" },
  ISACOMPTA: { separator: "|", charset: "us-ascii" },
} as const;

/**
 * Generates a till, and computes its report and accounting data. Depending on the seed, the till has more special cases
 * than usual, a difference between counted and expected cash, both, or neither.
 */
function createAccountingCase(seed: number): AccountingCase {
  const random = new SeededRandom(`accounting ${seed}`);
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
  const report = computeDocuments(till, { locationId: randomUUID() })?.reportV2 ?? expect.unreachable();
  return { till, report, accountingData: computeTillAccountingData(till, (instant) => instant.slice(0, 10)) };
}

let accountingCases: AccountingCase[];
beforeAll(() => {
  accountingCases = Array.from({ length: caseCount }, (_, index) => createAccountingCase(firstSeed + index));
});

/** Returns the lines that a till adds to an accounting file that already has `entriesBefore` entries. */
function writeAccountingFile(
  { report, accountingData }: AccountingCase,
  {
    provider,
    config,
    entriesBefore = 0,
  }: { provider: AccountingProvider; config: AccountingRules; entriesBefore?: number },
) {
  const stored = { v2: JSON.stringify(report), accountingData: JSON.stringify(accountingData) };
  const till = writeTillEntries({ stored, provider, config: JSON.stringify(config), currency: "EUR", entriesBefore });
  return till.failure === null ? till : expect.unreachable(till.failure.message);
}

/** Exports one till, and returns the lines of the file as a strict reader parses them. */
function exportLines(
  accountingCase: AccountingCase,
  provider: AccountingProvider,
  config: AccountingRules,
): ParsedFecLine[] {
  const { lines } = writeAccountingFile(accountingCase, { provider, config });
  return parseAndValidateFecFile(
    Buffer.concat([encodeFecHeader(fecFileFormatsByProvider[provider]), lines]),
    fecFormats[provider],
  );
}

const sumAmounts = <T>(items: T[], amount: (item: T) => number) =>
  items.reduce((total, item) => total + amount(item), 0);
const computeBalance = (lines: ParsedFecLine[]) => sumAmounts(lines, ({ debit, credit }) => debit - credit);
const computeCredit = (lines: ParsedFecLine[]) => sumAmounts(lines, ({ debit, credit }) => credit - debit);
const linesOnAccount = (lines: ParsedFecLine[], { account }: { account: string }) =>
  lines.filter((line) => line.account === account);
const linesOfFirstEntry = (lines: ParsedFecLine[]) => lines.filter(({ entry }) => entry === 1);

/** Returns the balance of the lines with this text, which is their total debit minus their total credit, in cents. */
const balanceOfText = (lines: ParsedFecLine[], text: string, report: ReportV2) =>
  computeBalance(lines.filter((line) => line.text === `Caisse Z${report.reportNumber} ${text}`));

describe(`${caseCount} generated tills`, () => {
  it("are exported as files that a strict FEC reader accepts, for every provider", () => {
    for (const accountingCase of accountingCases) {
      for (const provider of accountingProviders) {
        for (const config of [netConfig, grossConfig])
          expect(computeBalance(exportLines(accountingCase, provider, config))).toBe(0);
      }
    }
  });

  it("include every special case", () => {
    const accountingData = accountingCases.map((accountingCase) => accountingCase.accountingData);
    const payments = accountingCases.flatMap(({ report }) => report.reportRecordedPayments);
    const entries = accountingCases.flatMap(({ report }) => report.reportEntries);
    const rows = accountingCases.flatMap(({ till }) => till.orderList.flatMap((order) => order.productRowList));
    expect(accountingData.some(({ unpaid }) => unpaid > 0)).toBe(true);
    expect(accountingData.some(({ owed }) => owed > 0)).toBe(true);
    expect(accountingData.some(({ paidForUnsold }) => paidForUnsold > 0)).toBe(true);
    expect(accountingData.some(({ cash }) => cash === null)).toBe(true);
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

  it("have the report's VAT for each rate, for both ways to book discounts", () => {
    for (const accountingCase of accountingCases) {
      for (const config of [netConfig, grossConfig]) {
        const lines = exportLines(accountingCase, "FULLL", config);
        for (const { taxRate, account } of config.collectedVat) {
          const taxes = accountingCase.report.reportTaxes.filter((tax) => tax.taxRate === taxRate);
          expect(computeCredit(linesOnAccount(lines, { account }))).toBe(
            sumAmounts(taxes, ({ taxAmount }) => taxAmount),
          );
        }
      }
    }
  });

  it("have the report's payments for each payment method", () => {
    for (const accountingCase of accountingCases) {
      const lines = linesOfFirstEntry(exportLines(accountingCase, "FULLL", netConfig));
      const payments = accountingCase.report.reportRecordedPayments;
      for (const name of new Set(payments.map((payment) => payment.name ?? ""))) {
        const paymentsWithName = payments.filter((payment) => payment.name === name);
        expect(balanceOfText(lines, name, accountingCase.report)).toBe(
          sumAmounts(paymentsWithName, ({ totalAmount }) => totalAmount),
        );
      }
      const tips = sumAmounts(accountingCase.report.reportRecordedPayments, (payment) =>
        payment.paymentType === "tip" ? payment.totalAmount : payment.tipsAmount,
      );
      expect(computeCredit(linesOnAccount(lines, netConfig.tips))).toBe(tips);
    }
  });

  it("have unpaid amounts on 411, deposits on 4191, and movements of the drawer on their accounts", () => {
    for (const accountingCase of accountingCases) {
      const { report, till } = accountingCase;
      const lines = exportLines(accountingCase, "FULLL", netConfig);
      const countedOrders = till.orderList.filter(
        (order) => !order.isCanceled && !order.isTransferred && !order.isTraining,
      );
      const unpaidOrders = countedOrders.filter(({ leftToPay }) => leftToPay > 0);
      expect(balanceOfText(lines, "Reste à payer", report)).toBe(
        sumAmounts(unpaidOrders, ({ leftToPay }) => leftToPay),
      );
      const entryTotal = (type: string) =>
        sumAmounts(
          report.reportEntries.filter((entry) => entry.entryType === type),
          ({ entryAmount }) => entryAmount,
        );
      const paymentTotal = (mode: string) =>
        sumAmounts(
          report.reportRecordedPayments.filter(({ paymentMode }) => paymentMode === mode),
          ({ totalAmount }) => totalAmount,
        );
      expect(computeCredit(linesOnAccount(lines, netConfig.deposits))).toBe(
        entryTotal("deposit") - paymentTotal("deposit"),
      );
      expect(computeCredit(linesOnAccount(lines, netConfig.cashIn))).toBe(entryTotal("cash-in"));
      expect(computeCredit(linesOnAccount(lines, netConfig.cashOut))).toBe(entryTotal("cash-out"));
      const unpaid =
        sumAmounts(unpaidOrders, ({ leftToPay }) => leftToPay) + paymentTotal("debt") - entryTotal("customerAccount");
      expect(computeBalance(linesOnAccount(lines, netConfig.unpaid))).toBe(unpaid);
    }
  });

  it("leave on the cash account the counted cash less the initial cash", () => {
    for (const accountingCase of accountingCases.filter(({ accountingData }) => accountingData.cash)) {
      const { initialCashBalance: initial, finalCashBalance: counted } = accountingCase.till;
      const cash = computeBalance(
        linesOnAccount(exportLines(accountingCase, "FULLL", netConfig), netConfig.payments.cash),
      );
      expect(cash).toBe((counted ?? 0) - (initial ?? 0));
    }
  });

  it("have sales net of discounts, or gross with the discounts on 709, with the same result", () => {
    for (const accountingCase of accountingCases) {
      const { report } = accountingCase;
      const [netLines, grossLines] = [
        exportLines(accountingCase, "FULLL", netConfig),
        exportLines(accountingCase, "FULLL", grossConfig),
      ];
      const salesOf = (lines: ParsedFecLine[]) =>
        computeCredit(lines.filter(({ account }) => account.startsWith("706")));
      const discountTotal = sumAmounts(
        report.reportDiscounts.flatMap(({ taxRepartition }) => taxRepartition),
        ({ taxableAmount }) => taxableAmount,
      );
      expect(linesOnAccount(netLines, netConfig.discounts)).toEqual([]);
      expect(salesOf(netLines)).toBe(sumAmounts(report.reportTaxes, ({ taxableAmount }) => taxableAmount));
      expect(computeBalance(linesOnAccount(grossLines, grossConfig.discounts))).toBe(discountTotal);
      expect(salesOf(grossLines) - discountTotal).toBe(salesOf(netLines));
    }
  });

  it("are numbered continuously in one file", () => {
    for (const provider of accountingProviders) {
      const pieces: Uint8Array[] = [encodeFecHeader(fecFileFormatsByProvider[provider])];
      let entriesBefore = 0;
      for (const accountingCase of accountingCases) {
        const { lines, entries } = writeAccountingFile(accountingCase, { provider, config: netConfig, entriesBefore });
        pieces.push(lines);
        entriesBefore += entries;
      }
      const lines = parseAndValidateFecFile(Buffer.concat(pieces), fecFormats[provider]);
      expect(lines.at(-1)?.entry).toBe(entriesBefore);
    }
  });
});
