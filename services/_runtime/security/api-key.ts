import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/** Secret scanners recognize keys by the prefix, and the gateway rejects mistyped ones by the CRC-32 at the end. */
export const apiKeyPrefix = "pragma_";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const base = BigInt(alphabet.length);
const randomLength = 43;
const checksumLength = 6;
const apiKeyPattern = new RegExp(`^${apiKeyPrefix}([0-9A-Za-z]{${randomLength}})([0-9A-Za-z]{${checksumLength}})$`);

/** The number of characters at the start of a key that are stored and shown, so that users can identify the key. */
const shownPrefixLength = 14;

/** Returns a new API key, and the prefix and hash to store. The key itself is shown only once and is never stored. */
export function generateApiKey(): { key: string; prefix: string; hash: string } {
  const random = encodeBase62(BigInt(`0x${randomBytes(32).toString("hex")}`), randomLength);
  const key = `${apiKeyPrefix}${random}${computeChecksum(random)}`;
  return { key, prefix: key.slice(0, shownPrefixLength), hash: hashApiKey(key) };
}

/** Returns whether a credential has the format of an API key and a valid checksum, not whether the key exists. */
export function isWellFormedApiKey(credential: string): boolean {
  const [, random, checksum] = apiKeyPattern.exec(credential) ?? [];
  return random !== undefined && computeChecksum(random) === checksum;
}

/** Returns the SHA-256 of a credential as hex. Keys are stored and looked up by this hash. */
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
