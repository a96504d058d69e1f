import {
  defaultLedgerAccounts,
  defaultPaymentLedgerAccounts,
  defaultSalesLedgerAccounts,
  defaultVatLedgerAccounts,
} from "@pragma/contracts/chart-of-accounts";
import { fecColumns, fecFileFormatsByProvider } from "./fec/file-formats.ts";

/*
 * Markdown texts on accounting exports for the API reference. README.md in this folder has more details, and states
 * which properties of the files are standard.
 */

/** What all routes of accounting have in common. */
export const accountingRouteDefaults = { tag: "Accounting", audience: "public", scope: "accounting:write" } as const;

const { cash, card, check, restaurantCheck } = defaultPaymentLedgerAccounts;
const { unpaid, discounts, tips, owedToCustomers, cashIn, cashOut, deposits, shortage, surplus } =
  defaultLedgerAccounts;
const accountsByRateText = (accounts: readonly { taxRate: number; account: string }[]) =>
  accounts.map(({ taxRate, account }) => `${account} for ${taxRate / 100}%`).join(", ");

/** Describes which amounts are booked on which accounts. */
export const journalEntriesDescription = `A till has at most three journal entries. In each entry, total debits equal total credits to the cent. The date of an entry is the day on which the shift began. The reference of an entry is the letter Z followed by the number of the report, such as \`Z24\`. The following table lists the default accounts:

| Entry | Debit | Credit |
|---|---|---|
| Sales | payments by payment mode, for example cash ${cash.account}, cards ${card.account}, checks ${check.account} and vouchers ${restaurantCheck.account}; unpaid amounts of orders ${unpaid.account}; discounts, if \`discountBooking\` is \`gross\`, ${discounts.account}; change that was given by another method than the payment: by payment mode | sales excluding VAT, by VAT rate: ${accountsByRateText(defaultSalesLedgerAccounts)}; collected VAT: ${accountsByRateText(defaultVatLedgerAccounts)}; tips ${tips.account}; refunds that are still owed and amounts paid beyond the total of an order ${owedToCustomers.account}; change that was given by another method than the payment: by mode of the change |
| Financial movements | cash in, deposits and payments to customer accounts: by payment mode, for example cash ${cash.account}; cash out: ${cashOut.account} | cash in: ${cashIn.account}; deposits: ${deposits.account}; payments to customer accounts: ${unpaid.account}; cash out: by payment mode, for example cash ${cash.account} |
| Cash difference | missing cash: ${shortage.account}; excess cash: ${cash.account} | missing cash: ${cash.account}; excess cash: ${surplus.account} |

Negative amounts are booked on the other side of the same account. VAT on deposits is not booked, because points of sale do not send a VAT rate for deposits.`;

export const accountingFileFormatsDescription = `Every file has the 18 columns of the French *fichier des écritures comptables* (FEC). The format depends on the provider:

| Provider | Separator | Character set | Maximum text length |
|---|---|---|---|
${Object.entries(fecFileFormatsByProvider)
  .map(([provider, { separator, charset, maxTextLength }]) => {
    const separatorName = separator === "\t" ? "tab" : "vertical bar";
    return `| ${provider} | ${separatorName} | ${charset} | ${maxTextLength} |`;
  })
  .join("\n")}

- **INEXWEB** and **FULLL** are the former and current names of the same product. Each import into this product covers a single fiscal year, so export the tills of one fiscal year at a time.
- **ISACOMPTA** imports the file as text with named columns. Its vendor publishes no description of the format, so export and import one till first, as a test.

These files are only for import into accounting software. They are not the FEC that a company submits to the tax administration. The submitted FEC contains all journals of a fiscal year.`;

const fecColumnContents: Record<(typeof fecColumns)[number], string> = {
  JournalCode: "`journalCode` of the config",
  JournalLib: "`journalLabel` of the config",
  EcritureNum: "number of the entry in the file, starting at 1, without gaps",
  EcritureDate: "day on which the shift began, in the location's time zone",
  CompteNum: "number of the account",
  CompteLib: "name of the account",
  CompAuxNum: "number of the auxiliary account, if the config has a `customerAuxiliary`",
  CompAuxLib: "name of the auxiliary account",
  PieceRef: "the letter Z followed by the number of the report, such as Z24",
  PieceDate: "same as EcritureDate",
  EcritureLib: "`entryLabel` of the config, the reference of the report, and the description of the line",
  Debit: "amount, or 0,00",
  Credit: "amount, or 0,00",
  EcritureLet: "empty: entries are not reconciled yet (*lettrage*)",
  DateLet: "empty",
  ValidDate: "day on which the shift was closed",
  Montantdevise: "empty: amounts are in the currency of the books",
  Idevise: "empty",
};

export const fecColumnsDescription = `The first line contains the column names. Each subsequent line is one line of a journal entry. Dates have the format YYYYMMDD. Amounts have a decimal comma and two decimal places. Lines end with CR and LF.

| Column | Content |
|---|---|
${fecColumns.map((column) => `| ${column} | ${fecColumnContents[column]} |`).join("\n")}`;
