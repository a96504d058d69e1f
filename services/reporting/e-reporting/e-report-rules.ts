import { currencyCodes } from "@pragma/contracts/currency";
import type { DeclarantSettings } from "@pragma/contracts/e-reporting-declarant";
import { findSirenFault } from "@pragma/contracts/siren";
import { isVatOnDebits } from "./e-report.ts";
import { type EReportFile, vatOnDebitsCode } from "./e-report-file.ts";
import {
  getPeriod,
  isAmount,
  isFileDate,
  listCurrencies,
  listDates,
  listDays,
  listRates,
  listReceivedAmounts,
  listTransactionAmounts,
  listTransactions,
  toCents,
  toFileTime,
  toIsoDay,
} from "./e-report-file-values.ts";

/** What a file is checked against, besides itself. */
export interface EReportCheckContext {
  /** The current date and time in France: YYYY-MM-DDTHH:MM:SS. */
  now: string;
  settings: Pick<DeclarantSettings, "vatOnDebitsSince">;
  /** Whether another file of the business has the same id. */
  isIdUsed: boolean;
}

/** What a rule finds in a file: texts of what does not comply, how many figures it looked at, and differences of sums. */
interface Findings {
  checked: number;
  findings: string[];
  difference?: number;
}

export interface Rule {
  rule: string;
  description: string;
  /** Absent for rules that only the administration can check. */
  check?(file: EReportFile, context: EReportCheckContext): Findings;
}

const maxDifference = 1;

/** Rates in percent. */
const allowedRates = [0, 0.9, 1.05, 1.75, 2.1, 5.5, 7, 8.5, 9.2, 9.6, 10, 13, 19.6, 20, 20.6];

/** The rules of annex 7 (version 1.9) for aggregated transmissions of flux 10, each with its number. */
export const eReportRules: readonly Rule[] = [
  {
    rule: "G1.07",
    description: "No day is in the future.",
    check: (file, { now }) =>
      checkAll(
        listDays(file),
        (day) => day <= toFileTime(now).slice(0, 8),
        (day) => `Day ${day} is in the future.`,
      ),
  },
  {
    rule: "G1.09",
    description: "Dates have the format YYYYMMDD.",
    check: (file) => checkAll(listDates(file), isFileDate, (date) => `Date ${date} has another format.`),
  },
  {
    rule: "G1.10",
    description: "Currencies are codes of ISO 4217.",
    check: (file) =>
      checkAll(
        listCurrencies(file),
        (code) => currencyCodes.includes(code),
        (code) => `${code} is no currency.`,
      ),
  },
  {
    rule: "G1.104",
    description: "The ID of the transmission has letters, digits, - + _ / and single spaces inside.",
    check: ({ ReportDocument: { Id } }) =>
      checkAll(
        [Id],
        (id) => /^[\p{L}\p{N}\-+_/]+(?: [\p{L}\p{N}\-+_/]+)*$/u.test(id),
        (id) => `ID "${id}" has others.`,
      ),
  },
  {
    rule: "G1.14",
    description: "Amounts of transactions have at most 2 decimals and 19 characters.",
    check: (file) =>
      checkAll(
        listTransactionAmounts(file),
        (amount) => isAmount(amount, 2),
        (amount) => `Amount ${amount} has more.`,
      ),
  },
  {
    rule: "G1.16",
    description:
      "Received amounts have at most 6 decimals. Rule G7.07 has replaced it for them (annex 6, changes to TT-95 and TT-99), so that a day on which more is paid back than received has a negative amount.",
    check: (file) =>
      checkAll(
        listReceivedAmounts(file),
        ({ amount }) => isAmount(amount, 6),
        ({ amount }) => `Received amount ${amount} has more.`,
      ),
  },
  {
    rule: "G1.24",
    description: "VAT rates are of the list of the administration.",
    check: (file) =>
      checkAll(
        listRates(file),
        ({ rate }) => allowedRates.includes(Number(rate)),
        ({ rate, day }) => `Rate ${rate} on ${day} is not in the list. Find its tills under this day.`,
      ),
  },
  {
    rule: "G1.36",
    description: "Years are from 2000 to 2099.",
    check: (file) =>
      checkAll(
        listDates(file),
        (date) => /^20/.test(date),
        (date) => `Date ${date} has another year.`,
      ),
  },
  {
    rule: "G1.53",
    description:
      "The totals of a block are the sums of its VAT rates. A difference of one cent is tolerated, and never used.",
    check: checkSums,
  },
  {
    rule: "G1.67",
    description: "Services state VAT on debits from the day on which the business has chosen it, and only then.",
    check: (file, { settings }) =>
      checkAll(
        listTransactions(file),
        ({ Date: day, CategoryCode, TaxDueDateTypeCode }) =>
          TaxDueDateTypeCode ===
          (CategoryCode === "TPS1" && isVatOnDebits(toIsoDay(day), settings) ? vatOnDebitsCode : undefined),
        ({ Date: day, CategoryCode }) => `${CategoryCode} of ${day} states another option.`,
      ),
  },
  {
    rule: "G1.68",
    description: "Categories are TLB1, TPS1, TNT1 or TMA1.",
    check: (file) =>
      checkAll(
        listTransactions(file).map(({ CategoryCode }) => CategoryCode),
        (code) => ["TLB1", "TPS1", "TNT1", "TMA1"].includes(code),
        (code) => `${code} is no category.`,
      ),
  },
  {
    rule: "G6.22",
    description: "The sender has the number of an approved platform: four digits, with the scheme 0238.",
    check: ({ ReportDocument: { Sender } }) =>
      checkAll(
        [Sender.Id],
        (id) => id["@schemeId"] === "0238" && /^\d{4}$/.test(id["#"]),
        (id) => `${id["#"]} with the scheme ${id["@schemeId"]} is no number of a platform.`,
      ),
  },
  {
    rule: "G6.23",
    description: "VAT is in euros.",
    check: (file) =>
      checkAll(
        listTransactions(file),
        ({ TransactionsCurrency }) => TransactionsCurrency === "EUR",
        ({ Date: day, TransactionsCurrency }) => `VAT of ${day} is in ${TransactionsCurrency}.`,
      ),
  },
  {
    rule: "G6.24",
    description: "The period does not begin in the future.",
    check: (file, { now }) =>
      checkAll(
        [getPeriod(file).StartDate],
        (start) => start <= toFileTime(now).slice(0, 8),
        (start) => `The period begins on ${start}.`,
      ),
  },
  {
    rule: "G6.25",
    description: "The period ends after its first day.",
    check: (file) =>
      checkAll(
        [getPeriod(file)],
        ({ StartDate, EndDate }) => EndDate > StartDate,
        ({ StartDate, EndDate }) => `The period is from ${StartDate} to ${EndDate}.`,
      ),
  },
  {
    rule: "G6.26",
    description:
      "The business has a SIREN of nine digits, with the scheme 0002. Only the administration knows whether it exists.",
    check: ({ ReportDocument: { Issuer } }) =>
      checkAll(
        [Issuer.Id],
        (id) => id["@schemeId"] === "0002" && findSirenFault(id["#"]) === undefined,
        (id) => `${id["#"]} with the scheme ${id["@schemeId"]} is no SIREN.`,
      ),
  },
  {
    rule: "G6.27",
    description: "Received amounts are in euros.",
    check: (file) =>
      checkAll(
        listReceivedAmounts(file),
        ({ currency }) => currency === "EUR",
        ({ day, currency }) => `An amount of ${day} is in ${currency}.`,
      ),
  },
  {
    rule: "G6.29",
    description: "A transmission has either transactions or payments.",
    check: ({ TransactionsReport, PaymentsReport }) =>
      checkAll(
        [Boolean(TransactionsReport) !== Boolean(PaymentsReport)],
        (isOne) => isOne,
        () => "The file has both, or neither.",
      ),
  },
  {
    rule: "G7.07",
    description: "Received amounts have at most 6 decimals and 19 characters.",
    check: (file) =>
      checkAll(
        listReceivedAmounts(file),
        ({ amount }) => isAmount(amount, 6),
        ({ amount }) => `Received amount ${amount} has more.`,
      ),
  },
  {
    rule: "G7.34",
    description: "The ID of the transmission has at most 50 characters.",
    check: ({ ReportDocument: { Id } }) =>
      checkAll(
        [Id],
        ({ length }) => length <= 50,
        ({ length }) => `The ID has ${length} characters.`,
      ),
  },
  {
    rule: "G7.40",
    description: "The platform creates the transmission. This file states when its data were taken.",
  },
  {
    rule: "G7.43",
    description: "The period has ended, and the file is created after its end.",
    check: (file, { now }) =>
      checkAll(
        [file.ReportDocument.IssueDateTime.DateTimeString],
        (created) => {
          const end = getPeriod(file).EndDate;
          const current = toFileTime(now);
          return end < current.slice(0, 8) && created.slice(0, 8) > end && created <= current;
        },
        (created) => `The file of ${created} is not after the end of the period, ${getPeriod(file).EndDate}.`,
      ),
  },
  {
    rule: "G7.51",
    description: "The sender is an approved platform: role WK.",
    check: ({ ReportDocument: { Sender } }) =>
      checkAll(
        [Sender.RoleCode],
        (code) => code === "WK",
        (code) => `The sender has the role ${code}.`,
      ),
  },
  {
    rule: "G7.52",
    description: "The business is a seller or a buyer: role SE or BY.",
    check: ({ ReportDocument: { Issuer } }) =>
      checkAll(
        [Issuer.RoleCode],
        (code) => code === "SE" || code === "BY",
        (code) => `The business has the role ${code}.`,
      ),
  },
  {
    rule: "G7.53",
    description: "Date-times have the format YYYYMMDDHHMMSS.",
    check: ({ ReportDocument: { IssueDateTime } }) =>
      checkAll(
        [IssueDateTime.DateTimeString],
        (text) => isFileDate(text.slice(0, 8)) && /^(?:[01]\d|2[0-3])[0-5]\d[0-5]\d$/.test(text.slice(8)),
        (text) => `Date-time ${text} has another format.`,
      ),
  },
  {
    rule: "G8.01",
    description: "The type of a transmission is IN or RE.",
    check: ({ ReportDocument: { TypeCode } }) =>
      checkAll(
        [TypeCode],
        (code) => code === "IN" || code === "RE",
        (code) => `The type is ${code}.`,
      ),
  },
  {
    rule: "G8.02",
    description: "Named for the type of a transmission in annex 6, without a text in annex 7.",
  },
  {
    rule: "G8.05",
    description: "The ID of the transmission is unique for the period and the SIREN.",
    check: ({ ReportDocument: { Id } }, { isIdUsed }) =>
      checkAll(
        [Id],
        () => !isIdUsed,
        (id) => `The ID ${id} was already used.`,
      ),
  },
];

function checkAll<Item>(items: readonly Item[], complies: (item: Item) => boolean, describe: (item: Item) => string) {
  return { checked: items.length, findings: items.filter((item) => !complies(item)).map(describe) };
}

function checkSums(file: EReportFile): Findings {
  const findings: string[] = [];
  let [checked, difference] = [0, 0];
  for (const {
    Date: day,
    CategoryCode,
    TransactionsCurrency,
    TaxExclusiveAmount,
    TaxTotal,
    TaxSubtotal,
  } of listTransactions(file)) {
    // The rule concerns euros only.
    if (TransactionsCurrency !== "EUR") continue;
    const sums: [string, string, string[]][] = [
      ["amount without VAT", TaxExclusiveAmount, TaxSubtotal.map((subtotal) => subtotal.TaxableAmount)],
      ["VAT", TaxTotal, TaxSubtotal.map((subtotal) => subtotal.TaxTotal)],
    ];
    for (const [name, total, parts] of sums) {
      const distance = Math.abs(toCents(total) - parts.map(toCents).reduce((sum, cents) => sum + cents, 0));
      checked += 1;
      difference = Math.max(difference, distance);
      if (distance > maxDifference)
        findings.push(`The ${name} of ${day} ${CategoryCode} differs by ${distance} cents.`);
    }
  }
  return { checked, findings, difference };
}
