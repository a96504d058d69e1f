import { brotliCompressSync, constants } from "node:zlib";
import { describe, expect, it } from "vitest";
import {
  addBlockChecksum,
  decodeOrderBlock,
  decodeReportBlock,
  decodeText,
  decodeV1Orders,
  encodeOrderBlock,
  encodeReportBlock,
  verifyBlockChecksum,
} from "./pack-format.ts";

const orders = Array.from({ length: 150 }, (_, index) => ({
  v1: Buffer.from(JSON.stringify({ index, name: `Café ${"x".repeat(index * 20)}` })),
  v2: Buffer.from(JSON.stringify({ index, rows: Array.from({ length: index }, (_, row) => `“${row * index}”`) })),
}));

describe("a block of orders", () => {
  it("returns all texts, and the first texts of either version", async () => {
    const { bytes: block, v1End } = await encodeOrderBlock(orders);
    expect(await decodeOrderBlock(block)).toEqual(orders);
    expect(v1End).toBeLessThan(block.byteLength / 2);
    for (const count of [1, 2, 77, 150]) {
      const v1 = orders.slice(0, count).map((order) => order.v1);
      expect(await decodeV1Orders(block, { v1End, count })).toEqual(v1);
      expect(await decodeV1Orders(block.subarray(0, v1End), { v1End, count })).toEqual(v1);
      const order = count - 1;
      for (const body of ["v1", "v2"] as const)
        expect(await decodeText(block, { order, body }, 10_000)).toEqual(orders[order]?.[body]);
      expect(await decodeText(block, { order, body: "v1" }, 10)).toBe(orders[order]?.v1.byteLength);
    }
  });

  it("is rejected when it is damaged or incomplete", async () => {
    const { bytes: block, v1End } = await encodeOrderBlock(orders);
    await expect(decodeOrderBlock(block.subarray(0, block.byteLength / 2))).rejects.toThrow();
    const last = { order: 149, body: "v2" };
    await expect(decodeText(block.subarray(0, block.byteLength - 10), last, 10_000)).rejects.toThrow();
    await expect(decodeV1Orders(block, { v1End: v1End - 10, count: 150 })).rejects.toThrow();
    await expect(decodeV1Orders(Buffer.from("no block"), { v1End: 8, count: 1 })).rejects.toThrow();
    await expect(decodeV1Orders(Buffer.alloc(0), { v1End: 8, count: 1 })).rejects.toThrow();
  });

  it("is rejected when it decompresses to more than any till has", async () => {
    const withoutSizes = brotliCompressSync(Buffer.alloc(8 * 1024 * 1024, "["));
    await expect(decodeOrderBlock(withoutSizes)).rejects.toThrow("has no sizes");
    await expect(decodeV1Orders(withoutSizes, { v1End: withoutSizes.byteLength, count: 1 })).rejects.toThrow(
      "has no sizes",
    );
    const withLargeTexts = brotliCompressSync(Buffer.from("[200000000,200000000]\n"));
    await expect(decodeOrderBlock(withLargeTexts)).rejects.toThrow("ends before its texts");
    const text = { order: 0, body: "v1" };
    await expect(decodeText(withLargeTexts, text, Number.POSITIVE_INFINITY)).rejects.toThrow("too large");
    await expect(decodeText(withoutSizes, text, 10)).rejects.toThrow("has no sizes");
    const tooLong = brotliCompressSync(Buffer.alloc(132 * 1024 * 1024, "["), {
      params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
    });
    await expect(decodeV1Orders(tooLong, { v1End: tooLong.byteLength, count: 1 })).rejects.toThrow("larger than");
  });
});

it("a stored block is rejected when its bytes differ, or when it was read from another place", () => {
  const place = { objectKey: "packed/one", block: 1 };
  const stored = addBlockChecksum(Buffer.from("compressed"), place);
  expect(`${verifyBlockChecksum(stored, place)}`).toBe("compressed");
  for (let index = 0; index < stored.byteLength; index += 1)
    expect(() => verifyBlockChecksum(stored.with(index, (stored[index] ?? 0) ^ 1), place)).toThrow("damaged");
  for (const other of [
    { ...place, block: 2 },
    { ...place, objectKey: "packed/other" },
  ])
    expect(() => verifyBlockChecksum(stored, other)).toThrow("damaged");
  for (let length = 0; length < stored.byteLength; length += 1)
    expect(() => verifyBlockChecksum(stored.subarray(0, length), place)).toThrow("damaged");
});

it("a block of a report returns its texts", async () => {
  const report = { v2: "{}", v0: "[]", accountingData: '{"day":1}', finalized: "{}" };
  expect(await decodeReportBlock(await encodeReportBlock(report))).toEqual(report);
});
