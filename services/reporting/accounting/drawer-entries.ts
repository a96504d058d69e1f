import type { AccountingAccount, AccountingRules } from "@pragma/contracts/accounting-config";
import { plus } from "@pragma/contracts/money";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { isSettling } from "../calculate/counting.ts";
import { auxiliaryOf, paymentAccount } from "./accounts.ts";
import { EntryLines, type JournalLine } from "./journal.ts";
import type { TillFacts } from "./till-facts.ts";

type Movement = ReportV2["reportEntries"][number];

/**
 * Money that entered or left the drawer other than by a sale: each movement on the account of its payment method, cash
 * unless it names one, and on that of what it was for.
 */
export function movementsEntry(report: ReportV2, config: AccountingRules): JournalLine[] {
  const entry = new EntryLines();
  for (const movement of report.reportEntries) {
    const { entryAmount, entryName, paymentMode, paymentName } = movement;
    const money = paymentAccount(config, { name: paymentName, mode: paymentMode ?? "cash" });
    const purpose = purposeOf(movement, config);
    const text = entryName ?? purpose.label;
    entry.debit(entryAmount, { account: money, auxiliary: auxiliaryOf(config, money), text });
    entry.credit(entryAmount, { account: purpose, auxiliary: auxiliaryOf(config, purpose), text });
  }
  return entry.lines;
}

function purposeOf({ entryType }: Movement, { deposits, unpaid, cashIn, cashOut }: AccountingRules): AccountingAccount {
  const purposes = { deposit: deposits, customerAccount: unpaid, "cash-in": cashIn, "cash-out": cashOut };
  return purposes[entryType];
}

/** What the counted cash differs by from what should be there: a loss when it is less, a gain when it is more. */
export function cashEntry(report: ReportV2, facts: TillFacts, config: AccountingRules): JournalLine[] {
  const entry = new EntryLines();
  if (!facts.cash || !config.cashDifference) return entry.lines;
  const difference = facts.cash.counted - expectedCash(report, facts.cash.initial);
  const cash = paymentAccount(config, { name: null, mode: "cash" });
  entry.debit(difference, { account: cash, text: "Écart de caisse" });
  entry.credit(difference, { account: difference > 0 ? config.surplus : config.shortage, text: "Écart de caisse" });
  return entry.lines;
}

/**
 * The cash that should be in the drawer: what was there at the start, payments and tips in cash, and movements in cash,
 * which they are unless they name another payment method. A payment's amount is net of the change that was given.
 */
function expectedCash(report: ReportV2, initial: number): number {
  const payments = report.reportRecordedPayments.filter(({ paymentMode }) => paymentMode === "cash");
  const movements = report.reportEntries.filter(({ paymentMode }) => (paymentMode ?? "cash") === "cash");
  const amounts = [
    ...payments.map(({ paymentType, totalAmount, tipsAmount }) =>
      plus(
        isSettling({ paymentType }) || paymentType === "tip" ? totalAmount : 0,
        paymentType === "tip" ? 0 : tipsAmount,
      ),
    ),
    ...movements.map(({ entryAmount }) => entryAmount),
  ];
  return amounts.reduce(plus, initial);
}
