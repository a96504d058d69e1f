import { crc32 } from "node:zlib";
import { expect, it } from "vitest";
import { newApiKey } from "./api-key.mjs";

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

it("makes keys whose last six digits are the checksum of the 43 before them", () => {
  for (let count = 0; count < 200; count++) {
    const [, secret = "", checksum = ""] = /^pragma_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/.exec(newApiKey()) ?? [];
    const value = [...checksum].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0);
    expect(value).toBe(crc32(secret));
  }
});

it("makes another key each time", () => {
  expect(new Set(Array.from({ length: 50 }, newApiKey)).size).toBe(50);
});
