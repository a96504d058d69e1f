import type { AccountingAccount, AccountingRules } from "@pragma/contracts/accounting-config";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { auxiliaryOf, paymentAccount } from "./accounts.ts";
import { EntryLines, type JournalLine } from "./journal.ts";

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
