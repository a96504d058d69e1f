import { expect, it } from "vitest";
import { checkEReport } from "./check-e-report.ts";
import { buildEReportFile, type EReportFile } from "./e-report-file.ts";
import type { EReportCheckContext } from "./e-report-rules.ts";

const context: EReportCheckContext = {
  now: "2027-09-21T08:00:00",
  settings: { vatOnDebitsSince: null },
  isIdUsed: false,
};

const shared = {
  ...{ id: "732829320-T-20270901-1", type: "IN" as const, createdAt: "2027-09-21T08:00:00", siren: "732829320" },
  settings: { companyName: "Chez Marcel", platform: { number: "0123", name: "Plateforme" } },
  period: { first: "2027-09-01", last: "2027-09-10" },
};

const buildTransactions = () =>
  buildEReportFile({
    ...shared,
    blocks: {
      transactions: [
        {
          ...{ day: "2027-09-01", currency: "EUR", category: "TPS1" },
          ...{ taxExclusiveAmount: 100_550, taxTotal: 10_110, transactionsCount: 12, isVatOnDebits: false },
          taxSubtotals: [
            { taxRate: 550, taxableAmount: 550, taxTotal: 30 },
            { taxRate: 1000, taxableAmount: 100_000, taxTotal: 10_080 },
          ],
        },
      ],
    },
  });

const buildPayments = () =>
  buildEReportFile({
    ...shared,
    blocks: {
      payments: [{ day: "2027-09-01", currency: "EUR", subtotals: [{ taxRate: 1000, amount: -1_405 }] }],
    },
  });

const listFailed = (file: EReportFile, changed: Partial<EReportCheckContext> = {}) =>
  checkEReport(file, { ...context, ...changed })
    .filter(({ result }) => result === "failed")
    .map(({ rule }) => rule);

it("has amounts in euros, rates in percent, and dates without separators", () => {
  expect(buildTransactions().TransactionsReport).toEqual({
    ReportPeriod: { StartDate: "20270901", EndDate: "20270910" },
    Transactions: [
      {
        ...{ Date: "20270901", TransactionsCurrency: "EUR", CategoryCode: "TPS1" },
        ...{ TaxExclusiveAmount: "1005.50", TaxTotal: "101.10", TransactionsCount: "12" },
        TaxSubtotal: [
          { TaxPercent: "5.5", TaxableAmount: "5.50", TaxTotal: "0.30" },
          { TaxPercent: "10", TaxableAmount: "1000.00", TaxTotal: "100.80" },
        ],
      },
    ],
  });
  expect(buildPayments().PaymentsReport?.Transactions).toEqual([
    { Payment: { Date: "20270901", SubTotals: [{ TaxPercent: "10", CurrencyCode: "EUR", Amount: "-14.05" }] } },
  ]);
});

it("passes all checks, also with a day on which more was paid back than received", () => {
  expect(listFailed(buildTransactions())).toEqual([]);
  expect(listFailed(buildPayments())).toEqual([]);
  const administration = checkEReport(buildPayments(), context).filter(({ result }) => result === "not_checked");
  expect(administration.map(({ rule }) => rule)).toEqual(["G7.40", "G8.02"]);
});

type Change = (file: EReportFile, block: TransactionsBlock, document: EReportFile["ReportDocument"]) => void;
type TransactionsBlock = NonNullable<EReportFile["TransactionsReport"]>["Transactions"][number];

const changes: [rules: string[], change: Change, context?: Partial<EReportCheckContext>][] = [
  [["G1.07"], (_, block) => (block.Date = "20270922")],
  [["G1.09"], (_, block) => (block.Date = "20270230")],
  [["G1.10", "G6.23"], (_, block) => (block.TransactionsCurrency = "XYZ")],
  [["G6.23"], (_, block) => (block.TransactionsCurrency = "CHF")],
  [["G1.104"], (_, __, document) => (document.Id = "two  spaces")],
  [["G1.14"], (_, block) => ((block.TaxSubtotal[0] ?? never()).TaxTotal = "0.300")],
  [["G1.24"], (_, block) => ((block.TaxSubtotal[0] ?? never()).TaxPercent = "11")],
  [["G1.36"], (file) => ((file.TransactionsReport ?? never()).ReportPeriod.StartDate = "19990901")],
  [["G1.53"], (_, block) => (block.TaxTotal = "101.12")],
  [["G1.67"], () => {}, { settings: { vatOnDebitsSince: "2027-09-01" } }],
  [["G1.68"], (_, block) => (block.CategoryCode = "TPS2")],
  [["G6.22"], (_, __, document) => (document.Sender.Id["#"] = "12")],
  [["G6.25"], (file) => ((file.TransactionsReport ?? never()).ReportPeriod.StartDate = "20270910")],
  [["G6.26"], (_, __, document) => (document.Issuer.Id["#"] = "732829321")],
  [["G6.29"], (file) => Object.assign(file, { PaymentsReport: buildPayments().PaymentsReport })],
  [["G7.34"], (_, __, document) => (document.Id = "1".repeat(51))],
  [["G7.43"], (_, __, document) => (document.IssueDateTime.DateTimeString = "20270910235959")],
  [["G7.51"], (_, __, document) => (document.Sender.RoleCode = "SE")],
  [["G7.52"], (_, __, document) => (document.Issuer.RoleCode = "WK")],
  [["G7.53"], (_, __, document) => (document.IssueDateTime.DateTimeString = "20270921076000")],
  [["G8.01"], (_, __, document) => (document.TypeCode = "MO")],
  [["G8.05"], () => {}, { isIdUsed: true }],
  [["G1.07", "G6.24", "G7.43"], () => {}, { now: "2027-08-31T23:59:59" }],
];

it.each(changes)("fails %j on a file made wrong for it", (expected, change, changed) => {
  const file = buildTransactions();
  change(file, file.TransactionsReport?.Transactions[0] ?? never(), file.ReportDocument);
  expect(listFailed(file, changed)).toEqual(expected);
});

it.each<[string[], (payment: { TaxPercent: string; CurrencyCode: string; Amount: string }) => void]>([
  [["G1.16", "G7.07"], (payment) => (payment.Amount = "1.0000001")],
  [["G6.27"], (payment) => (payment.CurrencyCode = "CHF")],
  [["G1.24"], (payment) => (payment.TaxPercent = "10.5")],
])("fails %j on payments made wrong for it", (expected, change) => {
  const file = buildPayments();
  change(file.PaymentsReport?.Transactions[0]?.Payment.SubTotals[0] ?? never());
  expect(listFailed(file)).toEqual(expected);
});

it("tells which rules have nothing to apply to", () => {
  const resultOf = (file: EReportFile, rule: string) =>
    checkEReport(file, context).find((check) => check.rule === rule)?.result;
  expect(["G1.53", "G7.07", "G8.02"].map((rule) => resultOf(buildTransactions(), rule))).toEqual([
    ...["passed", "not_applicable", "not_checked"],
  ]);
  expect(["G1.53", "G7.07"].map((rule) => resultOf(buildPayments(), rule))).toEqual(["not_applicable", "passed"]);
});

it("tolerates one cent between a total and its rates, and states it", () => {
  const file = buildTransactions();
  (file.TransactionsReport?.Transactions[0] ?? never()).TaxTotal = "101.11";
  expect(listFailed(file)).toEqual([]);
  expect(checkEReport(file, context).find(({ rule }) => rule === "G1.53")?.difference).toBe(1);
});

function never(): never {
  throw new Error("The file has no such element.");
}

it("has amounts with the decimals of their currency", () => {
  const block = { day: "2027-09-01", currency: "JPY", subtotals: [{ taxRate: 1000, amount: -1_405 }] };
  const { PaymentsReport } = buildEReportFile({ ...shared, blocks: { payments: [block] } });
  const [payment] = PaymentsReport?.Transactions ?? [];
  expect(payment?.Payment.SubTotals).toEqual([{ TaxPercent: "10", CurrencyCode: "JPY", Amount: "-1405" }]);
});
