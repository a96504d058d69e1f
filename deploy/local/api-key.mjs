import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/**
 * A new API key: `pragma_`, 32 random bytes as 43 base62 digits, and the CRC-32 of those digits as 6 more, so that a
 * scanner can tell a leaked key from a lookalike.
 * @returns {string}
 */
export function newApiKey() {
  const secret = base62(BigInt(`0x${randomBytes(32).toString("hex")}`), 43);
  return `pragma_${secret}${base62(BigInt(crc32(secret)), 6)}`;
}

/**
 * @param {bigint} value
 * @param {number} length zeros fill it on the left
 * @returns {string}
 */
function base62(value, length) {
  let digits = "";
  for (let rest = value; rest > 0n; rest /= 62n) digits = alphabet[Number(rest % 62n)] + digits;
  return digits.padStart(length, "0");
}
