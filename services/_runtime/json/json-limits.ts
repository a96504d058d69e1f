import { randomInt } from "node:crypto";
import type { RequestBodyIssues } from "./body-issues.ts";

/** The maximum size of a JSON body: parsing and validation take memory for every value, known or not. */
export interface JsonLimits {
  /** Members of objects and items of arrays, including the containers themselves. */
  values: number;
  /** Objects and arrays. */
  containers: number;
}

/** Parsing an object with many different names takes a hundred times as long as parsing an array. */
const maxMemberNames = 5_000;
const comma = 0x2c;
const colon = 0x3a;
const quote = 0x22;
const backslash = 0x5c;
const openingBrackets = [0x7b, 0x5b];
const whitespaceBytes = [0x20, 0x0a, 0x0d, 0x09];

/**
 * Returns the issue of a JSON text that exceeds `max`; undefined when it does not. The values are counted without
 * parsing: each follows a comma or an opening bracket. Those within strings count, too.
 */
export function checkJsonLimits(bytes: Uint8Array, max: JsonLimits): RequestBodyIssues | undefined {
  // A Buffer finds a byte several times as fast as a Uint8Array.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let containers = 0;
  for (const opener of openingBrackets) containers += countUpTo(max.containers + 1 - containers, opener, text);
  if (containers > max.containers) return tooManyIssue("objects and lists", max.containers);
  if (containers + countUpTo(max.values + 1 - containers, comma, text) > max.values) {
    return tooManyIssue("values", max.values);
  }
  return hasTooManyMemberNames(text) ? tooManyIssue("different names", maxMemberNames) : undefined;
}

/** Random in each process, so that a client cannot compute names whose hashes collide. */
const hashSeed = randomInt(2 ** 32);

/** Whether more than `maxMemberNames` different strings precede a colon. Names with the same hash count once. */
function hasTooManyMemberNames(text: Buffer): boolean {
  const nameHashes = new Set<number>();
  for (let start = text.indexOf(quote); start !== -1; ) {
    const end = findStringEnd(text, start);
    if (end === -1) return false;
    let next = end + 1;
    while (whitespaceBytes.includes(text[next] as number)) next += 1;
    if (text[next] === colon) {
      nameHashes.add(hashBytes(text, start + 1, end));
      if (nameHashes.size > maxMemberNames) return true;
    }
    start = text.indexOf(quote, end + 1);
  }
  return false;
}

/** Returns the position of the quote that ends the string whose opening quote is at `start`; -1 if it does not end. */
function findStringEnd(text: Buffer, start: number): number {
  for (let end = text.indexOf(quote, start + 1); end !== -1; end = text.indexOf(quote, end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return -1;
}

/** Returns the FNV-1a hash of the bytes from `from` to before `to`. */
function hashBytes(text: Buffer, from: number, to: number): number {
  let hash = hashSeed;
  for (let index = from; index < to; index += 1) hash = Math.imul(hash ^ (text[index] as number), 0x01000193);
  return hash;
}

/** Returns how often a byte occurs in a text, counting up to `max`. */
function countUpTo(max: number, byte: number, text: Buffer): number {
  let count = 0;
  for (let index = text.indexOf(byte); index !== -1 && count < max; index = text.indexOf(byte, index + 1)) count += 1;
  return count;
}

function tooManyIssue(counted: string, max: number): RequestBodyIssues {
  const message = `Must have at most ${max} ${counted} in all`;
  return { issues: [{ in: "body", path: "", code: "too_big", message }], count: 1 };
}

export interface JsonPartLimits {
  /** The maximum number of items of all arrays together. */
  items: number;
  levels: number;
}

/** Returns why a part of a body is too large to be validated, without counting `excluded`; undefined when it is not. */
export function checkJsonPartLimits(
  part: unknown,
  max: JsonPartLimits,
  { excluded }: { excluded?: object } = {},
): { code: string; message: string } | undefined {
  if (typeof part !== "object" || part === null) return undefined;
  let items = 0;
  let level = [part];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > max.levels) return { code: "too_deep", message: `Must have at most ${max.levels} levels of nesting` };
    for (const container of level) if (Array.isArray(container)) items += container.length;
    if (items > max.items) return { code: "too_big", message: `Must have at most ${max.items} rows in all its lists` };
    level = level.flatMap(listChildContainers).filter((container) => container !== excluded);
  }
  return undefined;
}

function listChildContainers(container: object): object[] {
  return Object.values(container).filter((value) => typeof value === "object" && value !== null);
}
