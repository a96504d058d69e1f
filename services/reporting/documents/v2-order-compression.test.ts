import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { compressV2Order, decompressV2Order } from "./v2-order-compression.ts";

it.each([
  ["a short order", '{"id":"1","name":"Crème brûlée"}', '{"id":"1","name":"Crème brûlée","rows":[]}'],
  ["an empty V1 response", "", "{}"],
  ["more than a dictionary can contain", randomBytes(40_000).toString("hex"), randomBytes(50_000).toString("hex")],
])("returns the V2 response unchanged: %s", async (_, v1, v2) => {
  const compressed = await compressV2Order(v2, { v1 });
  const restored = await decompressV2Order(compressed, { v1: Buffer.from(v1) });
  expect(Buffer.from(restored).toString()).toBe(v2);
});

it("detects that the V1 response is not the one with which the order was compressed", async () => {
  const compressed = await compressV2Order('{"id":"1","rows":[]}', { v1: '{"id":"1"}' });
  await expect(decompressV2Order(compressed, { v1: Buffer.from('{"id":"2"}') })).rejects.toThrow("Bad dictionary");
});

it("decompresses an order that was stored with the dictionary, which must never change", async () => {
  const stored = Buffer.from("eLuhgPZqI6wES9MvthYAEjMUIA==", "base64");
  const restored = await decompressV2Order(stored, { v1: Buffer.from('{"id":"1","name":"Crème brûlée"}') });
  expect(Buffer.from(restored).toString()).toBe('{"id":"1","name":"Crème brûlée","productRowList":[]}');
});

it("does not repeat what the V1 response contains, also at the end of a long one", async () => {
  const shared = randomBytes(8_000).toString("hex");
  const v1 = `${randomBytes(20_000).toString("hex")}${shared}`;
  expect((await compressV2Order(`{${shared}}`, { v1 })).length).toBeLessThan(200);
});
