import { randomInt } from "node:crypto";
import type { BodyIssues } from "../http/request-issues.ts";

/** What the text of a JSON body may hold at most: parsing and checking cost memory for each value, known or not. */
export interface JsonLimits {
  /** Members of objects and items of lists, and the containers themselves. */
  values: number;
  /** Objects and lists. */
  containers: number;
}

/** Different names of members: an object of many takes a hundred times as long as a list. */
const maxMemberNames = 5_000;
const comma = 0x2c;
const colon = 0x3a;
const quote = 0x22;
const backslash = 0x5c;
const openingBrackets = [0x7b, 0x5b];
const whitespaceBytes = [0x20, 0x0a, 0x0d, 0x09];

/**
 * The fault of a JSON text that holds more than this; undefined when it does not. It is told without parsing: every
 * value follows a comma or an opening bracket. Those within texts count too.
 */
export function checkJsonLimits(bytes: Uint8Array, max: JsonLimits): BodyIssues | undefined {
  // A Buffer's search for a byte is several times as fast as that of other arrays.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let containers = 0;
  for (const opener of openingBrackets) containers += countUpTo(max.containers + 1 - containers, opener, text);
  if (containers > max.containers) return tooManyIssue("objects and lists", max.containers);
  if (containers + countUpTo(max.values + 1 - containers, comma, text) > max.values) {
    return tooManyIssue("values", max.values);
  }
  return hasTooManyMemberNames(text) ? tooManyIssue("different names", maxMemberNames) : undefined;
}

/** Of this process's own, so that nobody can find names that have one hash. */
const hashSeed = randomInt(2 ** 32);

/** Whether too many different names stand before a colon. Those of one hash count once. */
function hasTooManyMemberNames(text: Buffer): boolean {
  const seen = new Set<number>();
  for (let start = text.indexOf(quote); start !== -1; ) {
    const end = findStringEnd(text, start);
    if (end === -1) return false;
    let next = end + 1;
    while (whitespaceBytes.includes(text[next] as number)) next += 1;
    if (text[next] === colon) {
      seen.add(hashBytes(text, start + 1, end));
      if (seen.size > maxMemberNames) return true;
    }
    start = text.indexOf(quote, end + 1);
  }
  return false;
}

/** Returns where the string ends that begins with the quote at `start`: at the next quote that is not escaped. */
function findStringEnd(text: Buffer, start: number): number {
  for (let end = text.indexOf(quote, start + 1); end !== -1; end = text.indexOf(quote, end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return -1;
}

/** FNV-1a of the bytes between two places. */
function hashBytes(text: Buffer, from: number, to: number): number {
  let hash = hashSeed;
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ (text[at] as number), 0x01000193);
  return hash;
}

/** How often a byte is in a text, but no more than `max`. */
function countUpTo(max: number, byte: number, text: Buffer): number {
  let count = 0;
  for (let at = text.indexOf(byte); at !== -1 && count < max; at = text.indexOf(byte, at + 1)) count += 1;
  return count;
}

function tooManyIssue(what: string, max: number): BodyIssues {
  const message = `Must have at most ${max} ${what} in all`;
  return { issues: [{ in: "body", path: "", code: "too_big", message }], count: 1 };
}

export interface BodyPartLimits {
  /** In all lists together. */
  items: number;
  levels: number;
}

/** Why a part of a body is too large to be looked at, `besides` left out; undefined when it is not. */
export function checkBodyPartLimits(
  part: unknown,
  max: BodyPartLimits,
  { besides }: { besides?: object } = {},
): { code: string; message: string } | undefined {
  if (typeof part !== "object" || part === null) return undefined;
  let items = 0;
  let level = [part];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > max.levels) return { code: "too_deep", message: `Must have at most ${max.levels} levels of nesting` };
    for (const container of level) if (Array.isArray(container)) items += container.length;
    if (items > max.items) return { code: "too_big", message: `Must have at most ${max.items} rows in all its lists` };
    level = level.flatMap(listChildContainers).filter((container) => container !== besides);
  }
  return undefined;
}

function listChildContainers(container: object): object[] {
  return Object.values(container).filter((value) => typeof value === "object" && value !== null);
}
