import { randomInt } from "node:crypto";
import type { RequestIssue } from "@pragma/contracts/errors";
import type { RequestBodyIssues } from "./body-issues.ts";

/** The limits of a JSON body. They limit the memory for parsing, so values of unknown fields also count. */
export interface JsonLimits {
  /** Maximum number of object members and array items together. Each empty object or array counts as one more. */
  values: number;
  containers: number;
}

/** Maximum number of different member names. A body with more can take up to 100 times longer to parse. */
const maxMemberNames = 5_000;
const comma = 0x2c;
const colon = 0x3a;
const quote = 0x22;
const backslash = 0x5c;
const openingBrackets = [0x7b, 0x5b];
const whitespaceBytes = [0x20, 0x0a, 0x0d, 0x09];

/** Counts values without parsing: each comma and each opening bracket counts as a value, even within strings. */
export function checkJsonLimits(bytes: Uint8Array, max: JsonLimits): RequestBodyIssues | undefined {
  // Uses a Buffer, because `Buffer.indexOf` is several times as fast as `Uint8Array.indexOf`.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let containers = 0;
  for (const opener of openingBrackets) containers += countUpTo(max.containers + 1 - containers, opener, text);
  if (containers > max.containers) return tooManyIssue("objects and arrays", max.containers);
  if (containers + countUpTo(max.values + 1 - containers, comma, text) > max.values) {
    return tooManyIssue("values", max.values);
  }
  return hasTooManyMemberNames(text) ? tooManyIssue("different member names", maxMemberNames) : undefined;
}

/** Random for each process, so that a client cannot compute names with colliding hashes. */
const hashSeed = randomInt(2 ** 32);

/** A member name is a string before a colon. Names with the same hash count as one. */
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

function findStringEnd(text: Buffer, start: number): number {
  for (let end = text.indexOf(quote, start + 1); end !== -1; end = text.indexOf(quote, end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return -1;
}

/** Returns the FNV-1a hash of the bytes from `from` (inclusive) to `to` (exclusive). */
function hashBytes(text: Buffer, from: number, to: number): number {
  let hash = hashSeed;
  for (let index = from; index < to; index += 1) hash = Math.imul(hash ^ (text[index] as number), 0x01000193);
  return hash;
}

function countUpTo(max: number, byte: number, text: Buffer): number {
  let count = 0;
  for (let index = text.indexOf(byte); index !== -1 && count < max; index = text.indexOf(byte, index + 1)) count += 1;
  return count;
}

function tooManyIssue(counted: string, max: number): RequestBodyIssues {
  const message = `Must have at most ${max} ${counted} in total`;
  return { issues: [{ in: "body", path: "", code: "too_big", message }], count: 1 };
}

export interface JsonItemAndDepthLimits {
  items: number;
  levels: number;
}

/** Returns an issue if a part is too large or too deeply nested to be validated. Ignores the object `excluded`. */
export function findJsonPartLimitIssue(
  part: unknown,
  max: JsonItemAndDepthLimits,
  { excluded }: { excluded?: object } = {},
): Pick<RequestIssue, "code" | "message"> | undefined {
  if (typeof part !== "object" || part === null) return undefined;
  let items = 0;
  let level = [part];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > max.levels) return { code: "too_deep", message: `Must have at most ${max.levels} levels of nesting` };
    for (const container of level) if (Array.isArray(container)) items += container.length;
    if (items > max.items)
      return { code: "too_big", message: `Must have at most ${max.items} items in all arrays together` };
    level = listChildContainers(level, excluded);
  }
  return undefined;
}

function listChildContainers(level: object[], excluded: object | undefined): object[] {
  const children: object[] = [];
  for (const container of level) {
    for (const value of Object.values(container))
      if (typeof value === "object" && value !== null && value !== excluded) children.push(value);
  }
  return children;
}
