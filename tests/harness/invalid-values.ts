import type { SeededRandom } from "@pragma/simulator/random";

// The values in this file test the validation of fields. Some are invalid only in some fields.

export const edgeCaseNumbers = [
  ...[0, -0, 1, -1, 0.5, 5.5, 1e-7, 12.345],
  ...[100_000_000_000, 100_000_000_001, -100_000_000_000, -100_000_000_001],
  ...[2 ** 31 - 1, 2 ** 31, 2 ** 53 - 1, 2 ** 53, -(2 ** 53), 1e21, 1e308, Number.MIN_VALUE],
];

export const edgeCaseStrings = [
  ...["", " ", "0", "-1", "NaN", "Infinity", "1e999", "null", "true", "[object Object]", "__proto__", "constructor"],
  // These characters often cause errors when text is stored, displayed or compared.
  ..."\0|a\0b|\ud800|\udc00 alone|\uffff|\ufeff|\u2028|\u202e|é|é|İ|ﬁ|👩‍👩‍👧‍👦|𝔘𝔫𝔦|ا ل|\t\n\r".split("|"),
  ...["'; drop table reports; --", '"', "\\", "\\u0000", "{{x}}", "%s%n", "<script>1</script>", "../../etc"],
  ...[255, 256, 1_024, 1_025, 10_000, 10_001, 200_000].map((length) => "x".repeat(length)),
  "😀".repeat(512),
  "\u0301".repeat(1_000),
];

const edgeCaseDates = [
  ...["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000+00:01", "0001-01-01T12:00:00-11:00", "0050-06-01T10:00:00Z"],
  ...["0099-12-31T23:59:59Z", "0999-03-04T05:06:07+02:00", "1582-10-10T00:00:00Z", "1900-01-01T00:00:00-12:00"],
  ...["9999-12-31T23:59:59.999Z", "9999-12-31T23:30:00Z", "9999-12-31T23:59:59-14:00", "9999-06-01T00:00:00+14:00"],
  ...["0000-12-31T00:00:00Z", "-000001-01-01T00:00:00Z", "+010000-01-01T00:00:00Z", "99-01-01T00:00:00Z"],
  ...["2024-02-29T00:00:00Z", "2026-02-29T00:00:00Z", "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z"],
  ...["2026-05-29T24:00:00Z", "2026-05-29T23:59:60Z", "2026-05-29T10:17Z", "2026-05-29", "2026-05-29 10:17:19Z"],
  ...["2026-05-29T10:17:19.1Z", "2026-05-29T10:17:19.123456Z", "2026-05-29T10:17:19.123456789123Z"],
  ...["2026-05-29T10:17:19+23:59", "2026-05-29T10:17:19-00:00", "2026-05-29T10:17:19+24:00", "2026-05-29t10:17:19z"],
  // These times have no UTC offset. In Paris, one of them does not exist and one occurs twice (clock changes).
  ...[
    "2026-05-29T10:17:19",
    "2026-03-29T02:30:00",
    "2026-10-25T02:30:00",
    "0001-01-01T00:00:00",
    "9999-12-31T23:59:59",
  ],
];

/** Returns an id that is valid or differs slightly from a valid id. */
function createEdgeCaseId(random: SeededRandom): string {
  const uuid = random.uuid();
  return random.pick([
    ...[uuid, `s${uuid}`, uuid.toUpperCase(), `s${uuid.toUpperCase()}`, `S${uuid}`, `ss${uuid}`, `{${uuid}}`],
    ...[uuid.replaceAll("-", ""), uuid.slice(1), `${uuid}0`, ` ${uuid}`, "00000000-0000-0000-0000-000000000000"],
  ]);
}

/** Returns an array or object with a random nesting depth of up to 300 levels. */
function createNestedValue(random: SeededRandom): unknown {
  const levels = random.pick([1, 15, 16, 17, 40, 60, 300]);
  const isList = random.chance(0.5);
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = isList ? [value] : { a: value };
  return value;
}

/** Values that can cause errors in code that expects a string, list, number or promise and does not check the type. */
export const adversarialTestObjects: unknown[] = JSON.parse(`[
  {}, [], [[]], [null], { "0": 1 }, { "length": -1 }, { "length": 1, "0": {} }, { "length": { "toString": 1 } },
  { "toString": 1 }, { "toString": 1, "valueOf": 1 }, { "size": { "toString": 1 } }, { "then": 1 }, { "toJSON": 1 },
  { "constructor": 1 }, { "constructor": { "prototype": 1 } }, { "__proto__": 1 }, { "hasOwnProperty": 1 }
]`);

export function pickRandomEdgeCaseDate(random: SeededRandom): string {
  return random.pick(edgeCaseDates);
}

export function pickRandomInvalidTestValue(random: SeededRandom): unknown {
  return random.pickWeighted<() => unknown>([
    [() => random.pick(edgeCaseNumbers), 4],
    [() => random.pick(edgeCaseStrings), 4],
    [() => pickRandomEdgeCaseDate(random), 3],
    [() => createEdgeCaseId(random), 2],
    [() => random.pick([null, true, false]), 3],
    [() => random.pick(adversarialTestObjects), 2],
    [() => createNestedValue(random), 1],
    [() => Array.from({ length: random.pick([100, 1_001, 30_000]) }, () => null), 0.3],
  ])();
}

type JsonValueFormat = "number" | "boolean" | "date" | "id" | "text" | "other";

export function classifyJsonValueFormat(value: unknown): JsonValueFormat {
  if (typeof value === "number") return "number";
  if (typeof value === "boolean") return "boolean";
  if (typeof value !== "string") return "other";
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return "date";
  return /^s?[\da-f]{8}-/i.test(value) ? "id" : "text";
}

/**
 * Returns an edge case of the same kind as a number, boolean, date, id or text, so that a field of this kind often
 * accepts it. For any other value, returns an edge case of any kind.
 */
export function pickEdgeCaseValueOfSameType(random: SeededRandom, value: unknown): unknown {
  const edgeCasesByKind: Record<JsonValueFormat, () => unknown> = {
    number: () => random.pick(edgeCaseNumbers),
    boolean: () => !value,
    date: () => pickRandomEdgeCaseDate(random),
    id: () => createEdgeCaseId(random),
    text: () => random.pick(edgeCaseStrings),
    other: () => pickRandomInvalidTestValue(random),
  };
  return edgeCasesByKind[classifyJsonValueFormat(value)]();
}
