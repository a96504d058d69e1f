import { gzipSync } from "node:zlib";
import { generateTill } from "@pragma/simulator/generate-till";
import { Random } from "@pragma/simulator/random";
import type { TillFormat } from "./expected-report.ts";
import { garbleBytes, garbleText } from "./garble-text.ts";
import { hostileValue, kindOf, oddDate, odderValue } from "./hostile-values.ts";
import { olderTill } from "./older-till.ts";

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
interface Place {
  path: string;
  holder: Container;
  key: string | number;
}

/** Makes a sound till and spoils it a little, or a lot, or not at all: always the same for the same seed. */
export function mutatedTill(seed: string, location: { application: string; legacyId: number }): MutatedTill {
  const random = new Random(seed);
  const format: TillFormat = random.chance(0.7) ? "V2" : "V1";
  const till = format === "V2" ? soundTillV2(random) : soundTillV1(random, location);
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
    story.push(mutate(till, random));
  }
  let text = JSON.stringify(till);
  if (random.chance(0.1)) {
    const date = oddDate(random);
    text = text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, date);
    story.push(`every date ${date}`);
  }
  if (random.chance(0.2)) {
    text = garbleText(text, random);
    story.push("garbled text");
  }
  let bytes: Buffer = Buffer.from(text);
  if (random.chance(0.05)) {
    bytes = garbleBytes(bytes, random);
    story.push("garbled bytes");
  }
  const isPacked = random.chance(0.15);
  return { format, bytes, body: isPacked ? gzipSync(bytes) : bytes, headers: isPacked ? gzip : {}, story };
}

const gzip = { "content-encoding": "gzip" };

function soundTillV2(random: Random): Container {
  const day = `2026-0${random.integer(1, 9)}-1${random.integer(0, 9)}`;
  const options = { seed: random.integer(0, 50), orders: random.integer(0, 6), day, tillId: random.uuid() };
  return generateTill({ ...options, training: random.chance(0.05) }) as unknown as Container;
}

function soundTillV1(random: Random, location: { application: string; legacyId: number }): Container {
  const till = olderTill(random, location);
  till.tillJson.tickets = random.sample(till.tillJson.tickets, random.integer(0, 8));
  return till as unknown as Container;
}

const mutations: [name: string, weight: number, apply: (place: Place, random: Random) => void][] = [
  ["odder", 6, ({ holder, key }, random) => put(holder, key, odderValue(random, get(holder, key)))],
  ["another value", 3, ({ holder, key }, random) => put(holder, key, hostileValue(random))],
  ["dropped", 2, ({ holder, key }) => drop(holder, key)],
  ["wrapped in a list", 0.5, ({ holder, key }) => put(holder, key, [get(holder, key)])],
  ["list and object swapped", 0.5, ({ holder, key }) => put(holder, key, swapped(get(holder, key)))],
  ["repeated", 1, ({ holder, key }, random) => repeat(holder, key, random.pick([1, 2, 50]))],
  ["odd keys beside it", 2, ({ holder }, random) => addOddKeys(holder, random)],
];

function mutate(till: Container, random: Random): string {
  // Most values are names and flags deep inside; dates, ids and numbers, and those further out, decide more.
  const deepest = random.pick([2, 4, 100]);
  const near = places(till).filter(({ path }) => path.split("/").length <= deepest + 1);
  const kind = ({ holder, key }: Place) => kindOf(get(holder, key));
  const wanted = random.pick([...new Set(near.map(kind))]);
  const place = random.pick(near.filter((each) => kind(each) === wanted));
  const [name, , apply] = random.pickWeighted(mutations.map((each) => [each, each[1]] as const));
  apply(place, random);
  return `${place.path}: ${name}`;
}

function places(holder: Container, path = ""): Place[] {
  return Object.entries(holder).flatMap(([name, value]) => {
    const key = Array.isArray(holder) ? Number(name) : name;
    const here = { path: `${path}/${name}`, holder, key };
    return typeof value === "object" && value !== null ? [here, ...places(value as Container, here.path)] : [here];
  });
}

function get(holder: Container, key: string | number): unknown {
  return (holder as Record<string | number, unknown>)[key];
}

function put(holder: Container, key: string | number, value: unknown): void {
  // Defined and not assigned, so that a key such as __proto__ is a key.
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

function drop(holder: Container, key: string | number): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
}

function swapped(value: unknown): unknown {
  if (Array.isArray(value)) return { ...value };
  return typeof value === "object" && value !== null ? Object.values(value) : { value };
}

/** Puts an item of a list there so many times more: the one at the place, or the first of the list at the place. */
function repeat(holder: Container, key: string | number, times: number): void {
  const value = get(holder, key);
  const [list, item] = Array.isArray(holder) ? [holder, value] : [value, Array.isArray(value) ? value[0] : undefined];
  if (Array.isArray(list) && item !== undefined) list.push(...Array.from({ length: times }, () => item));
}

const oddKeys = [
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

function addOddKeys(holder: Container, random: Random): void {
  if (Array.isArray(holder)) return;
  for (const key of random.sample(oddKeys, 3)) put(holder, key, hostileValue(random));
}
