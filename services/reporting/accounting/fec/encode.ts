import iconv from "iconv-lite";

type Charset = "ISO-8859-15" | "US-ASCII";

/**
 * A text in the character set of a file. A character that the set lacks becomes what is closest to it in the set, such
 * as the letter without its accent, or else a question mark.
 */
export function encodeText(text: string, charset: Charset): Buffer {
  const known = new Map<string, string>();
  const written = text.normalize("NFC").replaceAll(/\P{ASCII}/gu, (letter) => {
    const closest = known.get(letter) ?? closestIn(charset, letter);
    known.set(letter, closest);
    return closest;
  });
  return iconv.encode(written, charset);
}

function closestIn(charset: Charset, letter: string): string {
  const isKnown = (letters: string) => iconv.decode(iconv.encode(letters, charset), charset) === letters;
  if (isKnown(letter)) return letter;
  const plain = (lookalikes[letter] ?? letter).normalize("NFKD").replaceAll(/\p{M}/gu, "");
  return plain !== "" && isKnown(plain) ? plain : "?";
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
