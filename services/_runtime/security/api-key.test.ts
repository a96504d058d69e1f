import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { generateApiKey, hashApiKey, isWellFormedApiKey } from "./api-key.ts";

describe("API keys", () => {
  it("consist of a prefix, 43 random characters and a checksum of 6 characters", () => {
    const { key, prefix } = generateApiKey();
    expect(key).toMatch(/^pragma_[0-9A-Za-z]{49}$/);
    expect(prefix).toBe(key.slice(0, 14));
    expect(isWellFormedApiKey(key)).toBe(true);
  });

  it("are all different", () => {
    expect(new Set(Array.from({ length: 1000 }, () => generateApiKey().key)).size).toBe(1000);
  });

  it("are stored as their SHA-256 hash", () => {
    const { key, hash } = generateApiKey();
    expect(hash).toBe(createHash("sha256").update(key).digest("hex"));
    expect(hashApiKey(key)).toBe(hash);
  });

  it("are rejected when one character is changed", () => {
    const { key } = generateApiKey();
    for (let index = "pragma_".length; index < key.length; index++) {
      const other = key[index] === "x" ? "y" : "x";
      expect(isWellFormedApiKey(key.slice(0, index) + other + key.slice(index + 1))).toBe(false);
    }
  });

  it.each(["", "pragma_", "pragma_short", "Bearer x"])("are rejected when they are malformed: %j", (credential) => {
    expect(isWellFormedApiKey(credential)).toBe(false);
  });

  it("are rejected with additional characters or in upper case", () => {
    const { key } = generateApiKey();
    for (const changed of [`${key} `, ` ${key}`, `${key}\n`, `${key}0`, key.toUpperCase()]) {
      expect(isWellFormedApiKey(changed)).toBe(false);
    }
  });

  it("have the checksum that an independent implementation computes", () => {
    const random = "0".repeat(43);
    expect(isWellFormedApiKey(`pragma_${random}${computeReferenceChecksum(random)}`)).toBe(true);
  });
});

/** Returns the CRC-32 (IEEE) of a text in base 62. Computes it bit by bit, independently of the tested code. */
function computeReferenceChecksum(text: string): string {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  let value = (crc ^ 0xffffffff) >>> 0;
  let digits = "";
  for (let length = 0; length < 6; length++, value = Math.floor(value / 62)) {
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[value % 62] + digits;
  }
  return digits;
}
