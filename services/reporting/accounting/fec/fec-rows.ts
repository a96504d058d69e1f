import type { AccountingRules } from "@pragma/contracts/accounting-config";
import type { JournalEntry } from "../journal.ts";
import type { FecRow } from "./columns.ts";

/**
 * Journal entries as the lines of a FEC, in the order given, numbered from 1 without gaps. Nothing is lettered yet, and
 * all amounts are in the currency that the books are kept in.
 */
export function fecRows(
  entries: JournalEntry[],
  { journalCode, journalLabel }: Pick<AccountingRules, "journalCode" | "journalLabel">,
): FecRow[] {
  return entries.flatMap(({ day, validFrom, piece, lines }, index) =>
    lines.map(({ account, label, auxiliary, text, debit, credit }) => ({
      JournalCode: journalCode,
      JournalLib: journalLabel,
      EcritureNum: String(index + 1),
      EcritureDate: dateText(day),
      CompteNum: account,
      CompteLib: label,
      CompAuxNum: auxiliary?.account ?? "",
      CompAuxLib: auxiliary?.label ?? "",
      PieceRef: piece,
      PieceDate: dateText(day),
      EcritureLib: text,
      Debit: amountText(debit),
      Credit: amountText(credit),
      EcritureLet: "",
      DateLet: "",
      ValidDate: dateText(validFrom),
      Montantdevise: "",
      Idevise: "",
    })),
  );
}

/** YYYY-MM-DD as YYYYMMDD. */
function dateText(day: string): string {
  return day.replaceAll("-", "");
}

/** Minor units with a decimal comma, and no separator of thousands: 123456 is 1234,56. */
function amountText(amount: number): string {
  const digits = String(amount).padStart(3, "0");
  return `${digits.slice(0, -2)},${digits.slice(-2)}`;
}
