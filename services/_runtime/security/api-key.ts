import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * The form of API keys: `pragma_`, 43 characters that carry 32 random bytes, and 6 that carry the CRC-32 of those 43.
 * The prefix and the checksum let secret scanners tell a leaked key from a look-alike, and a mistyped key is refused
 * without asking anybody.
 */
export const apiKeyPrefix = "pragma_";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const base = BigInt(alphabet.length);
const randomLength = 43;
const checksumLength = 6;
const apiKeyPattern = new RegExp(`^${apiKeyPrefix}([0-9A-Za-z]{${randomLength}})([0-9A-Za-z]{${checksumLength}})$`);

/** How many characters of a key are kept and shown, to tell keys apart. */
const shownPrefixLength = 14;

/** A new API key, with what is kept of it: how it begins, and its hash. The key itself is shown once and not kept. */
export function createApiKey(): { key: string; prefix: string; hash: string } {
  const random = encodeBase62(BigInt(`0x${randomBytes(32).toString("hex")}`), randomLength);
  const key = `${apiKeyPrefix}${random}${computeChecksum(random)}`;
  return { key, prefix: key.slice(0, shownPrefixLength), hash: hashApiKey(key) };
}

/** Whether this has the form of an API key and its checksum is right; says nothing of whether such a key was ever made. */
export function isWellFormedApiKey(credential: string): boolean {
  const [, random, checksum] = apiKeyPattern.exec(credential) ?? [];
  return random !== undefined && computeChecksum(random) === checksum;
}

/** The SHA-256 of a credential, in hex: what keys are stored and looked up by. */
export function hashApiKey(credential: string): string {
  return hash("sha256", credential, "hex");
}

function computeChecksum(random: string): string {
  return encodeBase62(BigInt(crc32(random)), checksumLength);
}

function encodeBase62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; text.length < length; rest /= base) text = alphabet[Number(rest % base)] + text;
  return text;
}
