import iconv from "iconv-lite";

/**
 * A text in the character set of a file. A character that the set lacks becomes what is closest to it in the set, such
 * as the letter without its accent, or else a question mark.
 */
export function encodeText(text: string, charset: "ISO-8859-15" | "US-ASCII"): Buffer {
  const isKnown = (letters: string) => iconv.decode(iconv.encode(letters, charset), charset) === letters;
  const closest = (letter: string) => {
    if (isKnown(letter)) return letter;
    const plain = (lookalikes[letter] ?? letter).normalize("NFKD").replaceAll(/\p{M}/gu, "");
    return plain !== "" && isKnown(plain) ? plain : "?";
  };
  return iconv.encode(text.normalize("NFC").replaceAll(/\P{ASCII}/gu, closest), charset);
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
