import type { SeededRandom } from "@pragma/simulator/random";

// The functions in this file corrupt JSON text in the same ways as broken or malicious clients.

const numberLike = ["NaN", "-Infinity", "+1", "01", "1.", ".5", "0x10", "1_000", "1e400", "-0", "1E2", "undefined"];
const hugeNumber = "123456789012345678901234567890";

const jsonCorruptions: ((text: string, random: SeededRandom) => string)[] = [
  (text, random) => text.slice(0, random.integer(0, text.length - 1)),
  (text, random) =>
    replaceRandomMatch(text, random, /(?<=:)-?\d+(?=[,}\]])/g, random.pick([...numberLike, hugeNumber, "1.0"])),
  (text, random) =>
    replaceRandomMatch(text, random, /"\w+":/g, (key) => `${key}${random.pick(["0", "null", '"twice"', "[]"])},${key}`),
  (text, random) => replaceRandomMatch(text, random, /"\w+":/g, (key) => `"__proto__":{"isTraining":true},${key}`),
  (text, random) =>
    replaceRandomMatch(
      text,
      random,
      /(?<=":")(?=\w)/g,
      random.pick(["\\u0000", "\\ud800", "\\udfff\\ud800", "\u0000", "\n"]),
    ),
  (text, random) =>
    replaceRandomMatch(text, random, /(?<=:)null/g, nestedArrays(random.pick([30, 49, 60, 5_000, 100_000]))),
  (text) => `\ufeff${text}`,
  (text) => `${text}${text}`,
  (text) => `${text.slice(0, -1)},}`,
  (text) => text.replaceAll('"', "'"),
  (text) => `/* a till */ ${text}`,
  (text, random) => `${" ".repeat(random.pick([10, 100_000]))}${text}\n`,
];

/** Returns the JSON text with one random corruption, or unchanged if the text has no place for this corruption. */
export function corruptJsonText(text: string, random: SeededRandom): string {
  return random.pick(jsonCorruptions)(text, random);
}

/** Returns a copy of the bytes in which up to three bytes are changed. The result is often not valid UTF-8. */
export function corruptBytes(bytes: Buffer, random: SeededRandom): Buffer {
  const corrupted = Buffer.from(bytes);
  for (let times = random.integer(1, 3); times > 0 && corrupted.length > 0; times--) {
    corrupted[random.integer(0, corrupted.length - 1)] = random.pick([0x00, 0x22, 0x5b, 0x7b, 0x80, 0xc0, 0xff]);
  }
  return corrupted;
}

function replaceRandomMatch(
  text: string,
  random: SeededRandom,
  pattern: RegExp,
  replacement: string | ((match: string) => string),
): string {
  const matches = [...text.matchAll(pattern)];
  if (matches.length === 0) return text;
  const { 0: match, index } = random.pick(matches);
  return (
    text.slice(0, index) +
    (typeof replacement === "string" ? replacement : replacement(match)) +
    text.slice(index + match.length)
  );
}

function nestedArrays(levels: number): string {
  return "[".repeat(levels) + "]".repeat(levels);
}
