import type { AccountingRules } from "@pragma/contracts/accounting-config";
import type { JournalEntry } from "../journal.ts";
import { encodeText, type FileFormat } from "./formats.ts";

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
export function fecRows(
  entries: JournalEntry[],
  { journalCode, journalLabel }: Pick<AccountingRules, "journalCode" | "journalLabel">,
  entriesBefore = 0,
): FecRow[] {
  return entries.flatMap(({ day, validFrom, piece, lines }, index) =>
    lines.map(({ account, label, auxiliary, text, debit, credit }) => ({
      JournalCode: journalCode,
      JournalLib: journalLabel,
      EcritureNum: String(entriesBefore + index + 1),
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

/** The columns whose content is a text of somebody's: all others are digits and codes. */
const texts = ["JournalLib", "CompteLib", "CompAuxLib", "EcritureLib"] as const;

/** The first line of a file: the names of the columns. */
export function fecHeader({ separator, charset }: FileFormat): Buffer {
  return encodeText(`${fecColumns.join(separator)}\r\n`, charset);
}

/** The bytes of rows, each a line ended by CR and LF. */
export function fecLines(rows: FecRow[], { separator, charset, longestText }: FileFormat): Buffer {
  // The same few texts stand in every till's lines.
  const written = new Map<string, string>();
  const writtenText = (text: string) => {
    const known = written.get(text) ?? shortenedTo(longestText, withoutBreaks(text));
    written.set(text, known);
    return known;
  };
  const lines = rows.map((row) => {
    const safe = { ...row };
    for (const column of texts) safe[column] = writtenText(row[column]);
    return fecColumns.map((column) => safe[column]).join(separator);
  });
  return encodeText([...lines, ""].join("\r\n"), charset);
}

/** A text without what would end its field or its line, in any of the formats. */
function withoutBreaks(text: string): string {
  return text.replaceAll(/[\p{Cc}\s|]+/gu, " ").trim();
}

function shortenedTo(length: number, text: string): string {
  const letters = Array.from(text);
  return letters.length > length ? letters.slice(0, length).join("").trimEnd() : text;
}

/**
 * The name of a FEC: the company's SIREN, FEC, and the last day that it holds. The SIREN is the first nine digits of the
 * SIRET; without one the name begins with FEC.
 */
export function fecName({ siret, lastDay }: { siret: string; lastDay: string }): string {
  const [siren = ""] = /^\d{9}(?=\d{5}$|$)/.exec(siret.replaceAll(/\s/g, "")) ?? [];
  return `${siren}FEC${lastDay.replaceAll("-", "")}.txt`;
}
