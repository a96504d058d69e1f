import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * API keys consist of `pragma_`, 43 characters that encode 32 random bytes, and 6 that encode the CRC-32 of those 43.
 * The prefix and the checksum let secret scanners recognize leaked keys, and let the gateway reject mistyped keys
 * without a lookup.
 */
export const apiKeyPrefix = "pragma_";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const base = BigInt(alphabet.length);
const randomLength = 43;
const checksumLength = 6;
const apiKeyPattern = new RegExp(`^${apiKeyPrefix}([0-9A-Za-z]{${randomLength}})([0-9A-Za-z]{${checksumLength}})$`);

/** The number of leading characters that are stored and shown, so that users can tell keys apart. */
const shownPrefixLength = 14;

/** Returns a new API key with its stored prefix and hash. The key itself is shown once and never stored. */
export function createApiKey(): { key: string; prefix: string; hash: string } {
  const random = encodeBase62(BigInt(`0x${randomBytes(32).toString("hex")}`), randomLength);
  const key = `${apiKeyPrefix}${random}${computeChecksum(random)}`;
  return { key, prefix: key.slice(0, shownPrefixLength), hash: hashApiKey(key) };
}

/** Whether a credential has the form and checksum of an API key. Such a key need not exist. */
export function isWellFormedApiKey(credential: string): boolean {
  const [, random, checksum] = apiKeyPattern.exec(credential) ?? [];
  return random !== undefined && computeChecksum(random) === checksum;
}

/** Returns the SHA-256 of a credential in hex, under which keys are stored and looked up. */
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
