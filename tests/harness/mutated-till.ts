import { gzipSync } from "node:zlib";
import { generateTill } from "@pragma/simulator/generate-till";
import { Random } from "@pragma/simulator/random";
import { corruptBytes, corruptJsonText } from "./corrupt-json.ts";
import type { TillFormat } from "./expected-report.ts";
import { jsonValueKind, pickEdgeCaseDate, pickEdgeCaseOfSameKind, pickInvalidValue } from "./invalid-values.ts";
import { createSampleTillV1 } from "./sample-till-v1.ts";

/** A till as a broken or malicious client may push it. */
export interface MutatedTill {
  format: TillFormat;
  /** What is sent. */
  body: Buffer;
  headers: Record<string, string>;
  /** What the body says, before it was packed. */
  bytes: Buffer;
  /** What was done to it, for whoever has to find out. */
  story: string[];
}

type Container = Record<string, unknown> | unknown[];

/** Where a value is. */
interface JsonSlot {
  path: string;
  holder: Container;
  key: string | number;
}

/** Makes a sound till and spoils it a little, or a lot, or not at all: always the same for the same seed. */
export function createMutatedTill(seed: string, location: { application: string; legacyId: number }): MutatedTill {
  const random = new Random(seed);
  const format: TillFormat = random.chance(0.7) ? "V2" : "V1";
  const till = format === "V2" ? createValidTillV2(random) : createValidTillV1(random, location);
  const story: string[] = [];
  for (
    let times = random.pickWeighted([
      [0, 1],
      [1, 6],
      [2, 3],
      [6, 1],
    ] as const);
    times > 0;
    times--
  ) {
    story.push(applyRandomMutation(till, random));
  }
  let text = JSON.stringify(till);
  if (random.chance(0.1)) {
    const date = pickEdgeCaseDate(random);
    text = text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, date);
    story.push(`every date ${date}`);
  }
  if (random.chance(0.2)) {
    text = corruptJsonText(text, random);
    story.push("garbled text");
  }
  let bytes: Buffer = Buffer.from(text);
  if (random.chance(0.05)) {
    bytes = corruptBytes(bytes, random);
    story.push("garbled bytes");
  }
  const isPacked = random.chance(0.15);
  return { format, bytes, body: isPacked ? gzipSync(bytes) : bytes, headers: isPacked ? gzip : {}, story };
}

const gzip = { "content-encoding": "gzip" };

function createValidTillV2(random: Random): Container {
  const day = `2026-0${random.integer(1, 9)}-1${random.integer(0, 9)}`;
  const options = { seed: random.integer(0, 50), orders: random.integer(0, 6), day, tillId: random.uuid() };
  return generateTill({ ...options, training: random.chance(0.05) }) as unknown as Container;
}

function createValidTillV1(random: Random, location: { application: string; legacyId: number }): Container {
  const till = createSampleTillV1(random, location);
  till.tillJson.tickets = random.sample(till.tillJson.tickets, random.integer(0, 8));
  return till as unknown as Container;
}

const tillMutations: [name: string, weight: number, apply: (place: JsonSlot, random: Random) => void][] = [
  [
    "odder",
    6,
    ({ holder, key }, random) => setSlotValue(holder, key, pickEdgeCaseOfSameKind(random, getSlotValue(holder, key))),
  ],
  ["another value", 3, ({ holder, key }, random) => setSlotValue(holder, key, pickInvalidValue(random))],
  ["dropped", 2, ({ holder, key }) => removeSlot(holder, key)],
  ["wrapped in a list", 0.5, ({ holder, key }) => setSlotValue(holder, key, [getSlotValue(holder, key)])],
  [
    "list and object swapped",
    0.5,
    ({ holder, key }) => setSlotValue(holder, key, swapListAndObject(getSlotValue(holder, key))),
  ],
  ["repeated", 1, ({ holder, key }, random) => repeatListItem(holder, key, random.pick([1, 2, 50]))],
  ["odd keys beside it", 2, ({ holder }, random) => addUnusualKeys(holder, random)],
];

function applyRandomMutation(till: Container, random: Random): string {
  // Most values are names and flags deep inside; dates, ids and numbers, and those further out, decide more.
  const deepest = random.pick([2, 4, 100]);
  const near = listJsonSlots(till).filter(({ path }) => path.split("/").length <= deepest + 1);
  const kind = ({ holder, key }: JsonSlot) => jsonValueKind(getSlotValue(holder, key));
  const wanted = random.pick([...new Set(near.map(kind))]);
  const place = random.pick(near.filter((each) => kind(each) === wanted));
  const [name, , apply] = random.pickWeighted(tillMutations.map((each) => [each, each[1]] as const));
  apply(place, random);
  return `${place.path}: ${name}`;
}

function listJsonSlots(holder: Container, path = ""): JsonSlot[] {
  return Object.entries(holder).flatMap(([name, value]) => {
    const key = Array.isArray(holder) ? Number(name) : name;
    const here = { path: `${path}/${name}`, holder, key };
    return typeof value === "object" && value !== null
      ? [here, ...listJsonSlots(value as Container, here.path)]
      : [here];
  });
}

function getSlotValue(holder: Container, key: string | number): unknown {
  return (holder as Record<string | number, unknown>)[key];
}

function setSlotValue(holder: Container, key: string | number, value: unknown): void {
  // Defined and not assigned, so that a key such as __proto__ is a key.
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

function removeSlot(holder: Container, key: string | number): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
}

function swapListAndObject(value: unknown): unknown {
  if (Array.isArray(value)) return { ...value };
  return typeof value === "object" && value !== null ? Object.values(value) : { value };
}

/** Puts an item of a list there so many times more: the one at the place, or the first of the list at the place. */
function repeatListItem(holder: Container, key: string | number, times: number): void {
  const value = getSlotValue(holder, key);
  const [list, item] = Array.isArray(holder) ? [holder, value] : [value, Array.isArray(value) ? value[0] : undefined];
  if (Array.isArray(list) && item !== undefined) list.push(...Array.from({ length: times }, () => item));
}

const unusualKeys = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "then",
  "toJSON",
  "length",
  "",
  "\0",
  "a.b[0]",
];

function addUnusualKeys(holder: Container, random: Random): void {
  if (Array.isArray(holder)) return;
  for (const key of random.sample(unusualKeys, 3)) setSlotValue(holder, key, pickInvalidValue(random));
}
