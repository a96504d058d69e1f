import { gzipSync } from "node:zlib";
import { generateTill } from "@pragma/simulator/generate-till";
import { SeededRandom } from "@pragma/simulator/random";
import { corruptBytes, corruptJsonText } from "./corrupt-json.ts";
import type { TillFormat } from "./expected-report.ts";
import {
  classifyJsonValueFormat,
  pickEdgeCaseValueOfSameType,
  pickRandomEdgeCaseDate,
  pickRandomInvalidTestValue,
} from "./invalid-values.ts";
import { createSampleTillV1 } from "./sample-till-v1.ts";

/** A request that pushes a till with random errors, or none, as a broken or malicious client might send it. */
export interface MutatedTillPushRequest {
  format: TillFormat;
  /** The request body, which may be compressed with gzip. */
  body: Buffer;
  headers: Record<string, string>;
  /** The body before compression. */
  bytes: Buffer;
  /** Descriptions of the applied mutations, for the messages of failed tests. */
  appliedMutations: string[];
}

type Container = Record<string, unknown> | unknown[];

/** The position of a value in JSON: the object or array that contains it, and its key or index. */
interface JsonSlot {
  path: string;
  container: Container;
  key: string | number;
}

/** Generates a valid till and applies a random number of mutations to it. The same seed always gives the same till. */
export function createMutatedTillPushRequest(
  seed: string,
  location: { application: string; legacyId: number },
): MutatedTillPushRequest {
  const random = new SeededRandom(seed);
  const format: TillFormat = random.chance(0.7) ? "V2" : "V1";
  const till = format === "V2" ? createValidTillV2(random) : createValidTillV1(random, location);
  const appliedMutations: string[] = [];
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
    appliedMutations.push(applyRandomMutation(till, random));
  }
  let text = JSON.stringify(till);
  if (random.chance(0.1)) {
    const date = pickRandomEdgeCaseDate(random);
    text = text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, date);
    appliedMutations.push(`every date ${date}`);
  }
  if (random.chance(0.2)) {
    text = corruptJsonText(text, random);
    appliedMutations.push("corrupted text");
  }
  let bytes: Buffer = Buffer.from(text);
  if (random.chance(0.05)) {
    bytes = corruptBytes(bytes, random);
    appliedMutations.push("corrupted bytes");
  }
  const isCompressed = random.chance(0.15);
  return {
    format,
    bytes,
    body: isCompressed ? gzipSync(bytes) : bytes,
    headers: isCompressed ? gzip : {},
    appliedMutations,
  };
}

const gzip = { "content-encoding": "gzip" };

function createValidTillV2(random: SeededRandom): Container {
  const day = `2026-0${random.integer(1, 9)}-1${random.integer(0, 9)}`;
  const options = { seed: random.integer(0, 50), orders: random.integer(0, 6), day, tillId: random.uuid() };
  return generateTill({ ...options, training: random.chance(0.05) }) as unknown as Container;
}

function createValidTillV1(random: SeededRandom, location: { application: string; legacyId: number }): Container {
  const till = createSampleTillV1(random, location);
  till.tillJson.tickets = random.sample(till.tillJson.tickets, random.integer(0, 8));
  return till as unknown as Container;
}

const tillMutations: [name: string, weight: number, apply: (slot: JsonSlot, random: SeededRandom) => void][] = [
  [
    "edge case of the same kind",
    6,
    ({ container, key }, random) =>
      setSlotValue(container, key, pickEdgeCaseValueOfSameType(random, getSlotValue(container, key))),
  ],
  [
    "another value",
    3,
    ({ container, key }, random) => setSlotValue(container, key, pickRandomInvalidTestValue(random)),
  ],
  ["dropped", 2, ({ container, key }) => removeSlot(container, key)],
  ["wrapped in a list", 0.5, ({ container, key }) => setSlotValue(container, key, [getSlotValue(container, key)])],
  [
    "list and object swapped",
    0.5,
    ({ container, key }) => setSlotValue(container, key, swapListAndObject(getSlotValue(container, key))),
  ],
  ["repeated", 1, ({ container, key }, random) => repeatListItem(container, key, random.pick([1, 2, 50]))],
  ["unusual keys beside it", 2, ({ container }, random) => addUnusualKeys(container, random)],
];

function applyRandomMutation(till: Container, random: SeededRandom): string {
  // The depth is often limited, because most values are deep in the till. Without a limit, the few values at the top
  // levels would rarely be mutated.
  const maxDepth = random.pick([2, 4, 100]);
  const candidates = listJsonSlots(till).filter(({ path }) => path.split("/").length <= maxDepth + 1);
  const kind = ({ container, key }: JsonSlot) => classifyJsonValueFormat(getSlotValue(container, key));
  const pickedKind = random.pick([...new Set(candidates.map(kind))]);
  const slot = random.pick(candidates.filter((each) => kind(each) === pickedKind));
  const [name, , apply] = random.pickWeighted(tillMutations.map((each) => [each, each[1]] as const));
  apply(slot, random);
  return `${slot.path}: ${name}`;
}

function listJsonSlots(container: Container, path = ""): JsonSlot[] {
  return Object.entries(container).flatMap(([name, value]) => {
    const key = Array.isArray(container) ? Number(name) : name;
    const current = { path: `${path}/${name}`, container, key };
    return typeof value === "object" && value !== null
      ? [current, ...listJsonSlots(value as Container, current.path)]
      : [current];
  });
}

function getSlotValue(container: Container, key: string | number): unknown {
  return (container as Record<string | number, unknown>)[key];
}

function setSlotValue(container: Container, key: string | number, value: unknown): void {
  // An assignment to `__proto__` would change the prototype, so the property is defined instead.
  Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true });
}

function removeSlot(container: Container, key: string | number): void {
  if (Array.isArray(container)) container.splice(Number(key), 1);
  else delete container[key];
}

function swapListAndObject(value: unknown): unknown {
  if (Array.isArray(value)) return { ...value };
  return typeof value === "object" && value !== null ? Object.values(value) : { value };
}

/**
 * Appends copies of an item to its list. If the container is a list, the item is the value at this position. Otherwise,
 * it is the first item of the list at this position. Does nothing if there is no list or the list is empty.
 */
function repeatListItem(container: Container, key: string | number, times: number): void {
  const value = getSlotValue(container, key);
  const [list, item] = Array.isArray(container)
    ? [container, value]
    : [value, Array.isArray(value) ? value[0] : undefined];
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

function addUnusualKeys(container: Container, random: SeededRandom): void {
  if (Array.isArray(container)) return;
  for (const key of random.sample(unusualKeys, 3)) setSlotValue(container, key, pickRandomInvalidTestValue(random));
}
