import type { AccountingAccount } from "@pragma/contracts/accounting-config";

/** A line of a journal entry: an amount above 0 on one side of an account. Amounts are in minor units. */
export interface JournalLine extends AccountingAccount {
  auxiliary: AccountingAccount | null;
  /** What the line is, in words. */
  text: string;
  debit: number;
  credit: number;
}

/** Lines that belong together: their debit is their credit. */
export interface JournalEntry {
  /** The day that it is of, and that from which it stands: YYYY-MM-DD. */
  day: string;
  validatedOn: string;
  /** The report that it was made from, as accountants refer to it. */
  documentReference: string;
  lines: JournalLine[];
}

/** What a line says besides its amount. */
interface JournalLineDetails {
  account: AccountingAccount;
  text: string;
  auxiliary?: AccountingAccount | null;
}

/** Gathers the lines of an entry. Nothing is written for an amount of 0, and one below 0 goes to the other side. */
export class JournalEntryBuilder {
  readonly lines: JournalLine[] = [];

  debit(amount: number, { account, text, auxiliary = null }: JournalLineDetails): void {
    if (amount === 0) return;
    const sides = amount > 0 ? { debit: amount, credit: 0 } : { debit: 0, credit: -amount };
    this.lines.push({ ...account, auxiliary, text, ...sides });
  }

  credit(amount: number, line: JournalLineDetails): void {
    this.debit(-amount, line);
  }
}
