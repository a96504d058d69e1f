import iconv from "iconv-lite";
import type { Charset } from "./file-formats.ts";

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
