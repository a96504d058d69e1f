import type { AccountingRules } from "@pragma/contracts/accounting-config";
import { formatDecimalAmount } from "@pragma/contracts/currency";
import iconv from "iconv-lite";
import type { AccountingJournalEntry } from "../journal-entries.ts";
import { type Charset, type FecFileFormat, fecColumns } from "./file-formats.ts";

/** A line of a FEC: the text of each column. */
export type FecRow = Record<(typeof fecColumns)[number], string>;

/** The journal of a file, and the ISO 4217 code of the currency of its books. */
interface FecJournal extends Pick<AccountingRules, "journalCode" | "journalLabel"> {
  currency: string;
}

/**
 * Returns the FEC rows of journal entries, in the same sequence as the entries. Entries are numbered without gaps from
 * `entriesBefore` + 1. The lettering columns are empty, because entries are not reconciled yet. The currency columns
 * are empty, because all amounts are in the currency of the books.
 */
export function toFecRows(
  entries: AccountingJournalEntry[],
  { journalCode, journalLabel, currency }: FecJournal,
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
      Debit: formatDecimalAmount(debit, currency, ","),
      Credit: formatDecimalAmount(credit, currency, ","),
      EcritureLet: "",
      DateLet: "",
      ValidDate: formatDate(validatedOn),
      Montantdevise: "",
      Idevise: "",
    })),
  );
}

function formatDate(day: string): string {
  return day.replaceAll("-", "");
}

/** The columns with free text. All other columns contain digits or codes, so they cannot contain field separators. */
const textColumns = ["JournalLib", "CompteLib", "CompAuxLib", "EcritureLib"] as const;

/** Returns the rows as encoded lines. Each line ends with CR and LF. */
export function encodeFecRows(rows: FecRow[], { separator, charset, maxTextLength }: FecFileFormat): Buffer {
  // Cleaned texts are cached, because many rows of a till contain the same texts, such as the label of an account.
  const cleanTexts = new Map<string, string>();
  const cleanText = (text: string) => {
    // First of all, because replacements of characters can be separators and spaces, and longer than the characters.
    const clean = cleanTexts.get(text) ?? removeSeparators(toCharset(text, charset)).slice(0, maxTextLength).trimEnd();
    cleanTexts.set(text, clean);
    // A text of invisible characters would leave a column empty that must not be.
    return clean === "" && text !== "" ? "?" : clean;
  };
  const lines = rows.map((row) => {
    const cleanRow = { ...row };
    for (const column of textColumns) cleanRow[column] = cleanText(row[column]);
    return fecColumns.map((column) => cleanRow[column]).join(separator);
  });
  return iconv.encode([...lines, ""].join("\r\n"), charset);
}

/**
 * Replaces white space, control characters and vertical bars with one space, so that the text contains no line break and
 * no field separator; and quotation marks, which many readers take as the start of a field, with apostrophes.
 */
function removeSeparators(text: string): string {
  return text
    .replaceAll('"', "'")
    .replaceAll(/[\p{Cc}\s|]+/gu, " ")
    .trim();
}

/**
 * Returns a text that contains only characters of a character set. Replaces others by similar texts, such as the letter
 * without its accent, or by a question mark. The result can be longer, and can contain field separators.
 */
export function toCharset(text: string, charset: Charset): string {
  const replacements = new Map<string, string>();
  return text.normalize("NFC").replaceAll(/\P{ASCII}/gu, (letter) => {
    const replacement = replacements.get(letter) ?? closestInCharset(charset, letter);
    replacements.set(letter, replacement);
    return replacement;
  });
}

function closestInCharset(charset: Charset, letter: string): string {
  if (/^[\p{White_Space}\p{Cc}]$/u.test(letter)) return " ";
  // Invisible on their own: marks without a letter that has them, formatting such as joiners, and variation selectors.
  if (/^[\p{M}\p{Cf}]$/u.test(letter)) return "";
  // iconv-lite encodes the replacement character as a byte that the set does not have.
  const isInCharset = (letters: string) =>
    !letters.includes("\ufffd") && iconv.decode(iconv.encode(letters, charset), charset) === letters;
  if (isInCharset(letter)) return letter;
  const plain = (asciiReplacements[letter] ?? letter).normalize("NFKD").replaceAll(/\p{M}/gu, "");
  return plain !== "" && isInCharset(plain) ? plain : "?";
}

/** ASCII replacements for characters that occur in names and texts and are not accented letters. */
const asciiReplacements: Record<string, string> = {
  ...Object.fromEntries([..."’‘‚‛′ʼ‹›"].map((quote) => [quote, "'"])),
  ...Object.fromEntries([..."“”„«»″"].map((quote) => [quote, '"'])),
  ...Object.fromEntries([..."‐‑‒–—―−•"].map((dash) => [dash, "-"])),
  ...{ œ: "oe", Œ: "OE", æ: "ae", Æ: "AE", ß: "ss", ẞ: "SS" },
  ...{ ø: "o", Ø: "O", ł: "l", Ł: "L", đ: "d", Đ: "D", ð: "d", Ð: "D", þ: "th", Þ: "TH", ı: "i" },
  ...{ "€": "EUR", "£": "GBP", "°": "o", "×": "x" },
};
