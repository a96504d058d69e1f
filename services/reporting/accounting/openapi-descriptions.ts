import {
  defaultLedgerAccounts,
  defaultPaymentLedgerAccounts,
  defaultSalesLedgerAccounts,
  defaultVatLedgerAccounts,
} from "@pragma/contracts/chart-of-accounts";
import { fecFileFormats } from "./fec/file-formats.ts";
import { fecColumns } from "./fec/write-fec.ts";

/*
 * What the reference tells readers of accounting exports, in Markdown. README.md beside this file says more, and what
 * of it is standard.
 */

const { cash, card, check, restaurantCheck } = defaultPaymentLedgerAccounts;
const { unpaid, discounts, tips, owedToCustomers, cashIn, cashOut, deposits, shortage, surplus } =
  defaultLedgerAccounts;
const accountsByRateText = (accounts: readonly { taxRate: number; account: string }[]) =>
  accounts.map(({ taxRate, account }) => `${account} for ${taxRate / 100} %`).join(", ");

/** What is booked where. */
export const journalEntriesDescription = `A till gives at most three journal entries, in each of which debit is credit to the cent. They are dated with the day on which the shift began, and refer to the report as Z and its number (\`Z24\`). Unless the config says otherwise, they are on these accounts:

| Entry | Debit | Credit |
|---|---|---|
| Sales | payments, by method: cash ${cash.account}, cards ${card.account}, cheques ${check.account}, vouchers ${restaurantCheck.account} and so on; what orders leave to pay ${unpaid.account}; discounts, where they are booked gross, ${discounts.account} | sales without VAT, by rate: ${accountsByRateText(defaultSalesLedgerAccounts)}; collected VAT: ${accountsByRateText(defaultVatLedgerAccounts)}; tips ${tips.account}; refunds that are still owed ${owedToCustomers.account} |
| Movements of the drawer | cash in: ${cash.account}; cash out: ${cashOut.account} | cash in: ${cashIn.account}, deposits ${deposits.account}, payments of customers' accounts ${unpaid.account}; cash out: ${cash.account} |
| Cash difference | missing cash: ${shortage.account}; too much: ${cash.account} | missing cash: ${cash.account}; too much: ${surplus.account} |

Negative amounts are on the other side of the same account. VAT on deposits is not booked: points of sale give no rate with them.`;

/** How the files of each provider are written. */
export const exportFormatsDescription = `Every file has the 18 columns of the French *fichier des écritures comptables* (FEC). The provider decides how they are written:

| Provider | Between fields | Characters | Longest text |
|---|---|---|---|
${Object.entries(fecFileFormats)
  .map(([provider, { separator, charset, maxTextLength }]) => {
    const between = separator === "\t" ? "tabulator" : "vertical bar";
    return `| ${provider} | ${between} | ${charset} | ${maxTextLength} |`;
  })
  .join("\n")}

- **INEXWEB** and **FULLL** are one software under its former and its present name, which imports a FEC of one financial year: export the tills of one year at a time.
- **ISACOMPTA** imports it as a text file with named columns. Its maker publishes no description of the files that it takes: try it with one till first.

It is a file to import, and not the FEC that a company hands to the tax administration, which holds a year of all its journals.`;

const fecColumnContents: Record<(typeof fecColumns)[number], string> = {
  JournalCode: "`journalCode` of the config",
  JournalLib: "`journalLabel` of the config",
  EcritureNum: "number of the entry in the file: 1, 2, 3, without gaps",
  EcritureDate: "day on which the shift began, in the location's time zone",
  CompteNum: "account",
  CompteLib: "name of the account",
  CompAuxNum: "auxiliary account, where the config has a `customerAuxiliary`",
  CompAuxLib: "its name",
  PieceRef: "Z and the number of the report",
  PieceDate: "as EcritureDate",
  EcritureLib: "`entryLabel` of the config, the report, and what the line is",
  Debit: "amount, or 0,00",
  Credit: "amount, or 0,00",
  EcritureLet: "empty: nothing is lettered yet",
  DateLet: "empty",
  ValidDate: "day on which the shift was closed",
  Montantdevise: "empty: amounts are in the currency of the books",
  Idevise: "empty",
};

/** What the columns of a file hold. */
export const fecColumnsDescription = `The first line names the columns; then there is a line for each line of each journal entry. Days are YYYYMMDD, amounts have a decimal comma and two decimals, and lines end with CR and LF.

| Column | What it holds |
|---|---|
${fecColumns.map((column) => `| ${column} | ${fecColumnContents[column]} |`).join("\n")}`;
