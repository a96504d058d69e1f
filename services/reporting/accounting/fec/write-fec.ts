import type { AccountingRules } from "@pragma/contracts/accounting-config";
import type { JournalEntry } from "../journal.ts";
import { encodeFecText, type FecFileFormat } from "./file-formats.ts";

/**
 * The columns of a FEC (fichier des écritures comptables) of a company that is taxed on industrial and commercial
 * profits, in their order: article A47 A-1, VII-1° of the French Livre des procédures fiscales.
 */
export const fecColumns = [
  "JournalCode",
  "JournalLib",
  "EcritureNum",
  "EcritureDate",
  "CompteNum",
  "CompteLib",
  "CompAuxNum",
  "CompAuxLib",
  "PieceRef",
  "PieceDate",
  "EcritureLib",
  "Debit",
  "Credit",
  "EcritureLet",
  "DateLet",
  "ValidDate",
  "Montantdevise",
  "Idevise",
] as const;

/** A line of a FEC, by column. */
export type FecRow = Record<(typeof fecColumns)[number], string>;

/**
 * Journal entries as the lines of a FEC, in the order given, numbered without gaps after those before them. Nothing is
 * lettered yet, and all amounts are in the currency that the books are kept in.
 */
export function toFecRows(
  entries: JournalEntry[],
  { journalCode, journalLabel }: Pick<AccountingRules, "journalCode" | "journalLabel">,
  entriesBefore = 0,
): FecRow[] {
  return entries.flatMap(({ day, validatedOn, documentReference, lines }, index) =>
    lines.map(({ account, label, auxiliary, text, debit, credit }) => ({
      JournalCode: journalCode,
      JournalLib: journalLabel,
      EcritureNum: String(entriesBefore + index + 1),
      EcritureDate: formatDate(day),
      CompteNum: account,
      CompteLib: label,
      CompAuxNum: auxiliary?.account ?? "",
      CompAuxLib: auxiliary?.label ?? "",
      PieceRef: documentReference,
      PieceDate: formatDate(day),
      EcritureLib: text,
      Debit: formatAmount(debit),
      Credit: formatAmount(credit),
      EcritureLet: "",
      DateLet: "",
      ValidDate: formatDate(validatedOn),
      Montantdevise: "",
      Idevise: "",
    })),
  );
}

/** YYYY-MM-DD as YYYYMMDD. */
function formatDate(day: string): string {
  return day.replaceAll("-", "");
}

/** Minor units with a decimal comma, and no separator of thousands: 123456 is 1234,56. */
function formatAmount(amount: number): string {
  const digits = String(amount).padStart(3, "0");
  return `${digits.slice(0, -2)},${digits.slice(-2)}`;
}

/** The columns whose content is a text of somebody's: all others are digits and codes. */
const textColumns = ["JournalLib", "CompteLib", "CompAuxLib", "EcritureLib"] as const;

/** The first line of a file: the names of the columns. */
export function encodeFecHeader({ separator, charset }: FecFileFormat): Buffer {
  return encodeFecText(`${fecColumns.join(separator)}\r\n`, charset);
}

/** The bytes of rows, each a line ended by CR and LF. */
export function encodeFecRows(rows: FecRow[], { separator, charset, maxTextLength }: FecFileFormat): Buffer {
  // The same few texts stand in every till's lines.
  const cleanTexts = new Map<string, string>();
  const cleanText = (text: string) => {
    const known = cleanTexts.get(text) ?? truncateText(maxTextLength, removeSeparators(text));
    cleanTexts.set(text, known);
    return known;
  };
  const lines = rows.map((row) => {
    const safe = { ...row };
    for (const column of textColumns) safe[column] = cleanText(row[column]);
    return fecColumns.map((column) => safe[column]).join(separator);
  });
  return encodeFecText([...lines, ""].join("\r\n"), charset);
}

/** A text without what would end its field or its line, in any of the formats. */
function removeSeparators(text: string): string {
  return text.replaceAll(/[\p{Cc}\s|]+/gu, " ").trim();
}

function truncateText(length: number, text: string): string {
  const letters = Array.from(text);
  return letters.length > length ? letters.slice(0, length).join("").trimEnd() : text;
}

/**
 * The name of a FEC: the company's SIREN, FEC, and the last day that it holds. The SIREN is the first nine digits of the
 * SIRET; without one the name begins with FEC.
 */
export function fecFileName({ siret, lastDay }: { siret: string; lastDay: string }): string {
  const [siren = ""] = /^\d{9}(?=\d{5}$|$)/.exec(siret.replaceAll(/\s/g, "")) ?? [];
  return `${siren}FEC${lastDay.replaceAll("-", "")}.txt`;
}
