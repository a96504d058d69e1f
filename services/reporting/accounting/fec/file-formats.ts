import type { AccountingProvider } from "@pragma/contracts/accounting-export";
import iconv from "iconv-lite";

type Charset = "ISO-8859-15" | "US-ASCII";

/** How a provider's file is written. What of it is standard and what was chosen: see README.md beside this folder. */
export interface FecFileFormat {
  /** Between the fields of a line: the tabulator and | are the two that the rules for a FEC name. */
  separator: "\t" | "|";
  charset: Charset;
  /** Of a line's text (EcritureLib) and an account's name, in characters. */
  maxTextLength: number;
}

/** INEXWEB and FULLL are one software under its former and its present name: it takes a FEC as the law describes it. */
const legalFecFormat: FecFileFormat = { separator: "\t", charset: "ISO-8859-15", maxTextLength: 200 };

export const fecFileFormats: Record<AccountingProvider, FecFileFormat> = {
  INEXWEB: legalFecFormat,
  FULLL: legalFecFormat,
  ISACOMPTA: { separator: "|", charset: "US-ASCII", maxTextLength: 30 },
};

/**
 * A text in the character set of a file. A character that the set lacks becomes what is closest to it in the set, such
 * as the letter without its accent, or else a question mark.
 */
export function encodeFecText(text: string, charset: Charset): Buffer {
  const replacements = new Map<string, string>();
  const written = text.normalize("NFC").replaceAll(/\P{ASCII}/gu, (letter) => {
    const closest = replacements.get(letter) ?? closestInCharset(charset, letter);
    replacements.set(letter, closest);
    return closest;
  });
  return iconv.encode(written, charset);
}

function closestInCharset(charset: Charset, letter: string): string {
  const isInCharset = (letters: string) => iconv.decode(iconv.encode(letters, charset), charset) === letters;
  if (isInCharset(letter)) return letter;
  const plain = (lookalikes[letter] ?? letter).normalize("NFKD").replaceAll(/\p{M}/gu, "");
  return plain !== "" && isInCharset(plain) ? plain : "?";
}

/** What French texts have that is no letter with an accent. */
const lookalikes: Record<string, string> = {
  "’": "'",
  "‘": "'",
  "“": '"',
  "”": '"',
  "–": "-",
  "—": "-",
  œ: "oe",
  Œ: "OE",
  æ: "ae",
  Æ: "AE",
  "€": "EUR",
};
