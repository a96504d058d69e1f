import type { AccountingAccount } from "@pragma/contracts/accounting-config";

/** A line of a journal entry: an amount in minor units, above 0, that is debited or credited to an account. */
export interface AccountingJournalLine extends AccountingAccount {
  auxiliary: AccountingAccount | null;
  text: string;
  debit: number;
  credit: number;
}

/** A journal entry: lines whose total debit equals their total credit. */
export interface AccountingJournalEntry {
  /** The date of the entry, YYYY-MM-DD. */
  day: string;
  /** The date on which the entry became final, YYYY-MM-DD. */
  validatedOn: string;
  /** The reference of the report from which the entry was created, such as Z24. */
  documentReference: string;
  lines: AccountingJournalLine[];
}

/** The fields of a line other than its amount. */
interface JournalLineDetails {
  account: AccountingAccount;
  text: string;
  auxiliary?: AccountingAccount | null;
}

/** Collects the lines of an entry. Skips amounts of 0. Books a negative credit as a debit, and vice versa. */
export class JournalEntryBuilder {
  readonly lines: AccountingJournalLine[] = [];

  debit(amount: number, { account, text, auxiliary = null }: JournalLineDetails): void {
    if (amount === 0) return;
    const sides = amount > 0 ? { debit: amount, credit: 0 } : { debit: 0, credit: -amount };
    this.lines.push({ ...account, auxiliary, text, ...sides });
  }

  credit(amount: number, line: JournalLineDetails): void {
    this.debit(-amount, line);
  }
}
