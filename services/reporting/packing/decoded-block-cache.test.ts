import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CompressingObjectStore, createObjectStore } from "@pragma/runtime/object-store/object-store";
import { afterEach, beforeEach, expect, it } from "vitest";
import { enableDecodedBlockCache } from "./decoded-block-cache.ts";
import { addBlockChecksum, encodeOrderBlock } from "./pack-format.ts";
import { readPackedBodies } from "./packed-reader.ts";

const objectKey = "packed/location/till";
const blockEnds = [0];
let folder: string;
let store: CompressingObjectStore;
/** The reads of blocks from the store. */
let reads: number;
/** The store with counted reads. */
let objects: Pick<CompressingObjectStore, "getStoredRange">;

const textOf = (version: string, position: number) => `{"version":"${version}","position":${position}}`;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "pragma-decoded-blocks-"));
  store = createObjectStore(`file:${folder}`);
  reads = 0;
  objects = {
    getStoredRange(key, range) {
      reads += 1;
      return store.getStoredRange(key, range);
    },
  };
  const orders = Array.from({ length: 10 }, (_, position) => ({
    v1: Buffer.from(textOf("v1", position)),
    v2: Buffer.from(textOf("v2", position)),
  }));
  const block = addBlockChecksum(await encodeOrderBlock(orders), { objectKey, block: 1 });
  blockEnds[1] = block.byteLength;
  await store.putStored(objectKey, block);
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

async function readPage(positions: number[], body: string): Promise<string[]> {
  const till = { objectKey, blockEnds, blockFirstPositions: [0, 0] };
  const bodies = await readPackedBodies(
    objects,
    positions.map((position) => ({ till, position })),
    body,
  );
  return bodies.map(String);
}

it("keeps the V1 responses of a block, so that the next page needs no read", async () => {
  enableDecodedBlockCache(objects, { maxBytes: 1024 * 1024 });
  expect(await readPage([0, 1], "v1")).toEqual([textOf("v1", 0), textOf("v1", 1)]);
  expect(await readPage([2, 9], "v1")).toEqual([textOf("v1", 2), textOf("v1", 9)]);
  expect(reads).toBe(1);
});

it("does not keep V2 responses, blocks that are larger than the cache, or any without a cache", async () => {
  await readPage([0], "v1");
  await readPage([0], "v1");
  expect(reads).toBe(2);
  enableDecodedBlockCache(objects, { maxBytes: 100 });
  await readPage([0], "v1");
  await readPage([0], "v1");
  expect(reads).toBe(4);
  enableDecodedBlockCache(objects, { maxBytes: 1024 * 1024 });
  expect(await readPage([3], "v2")).toEqual([textOf("v2", 3)]);
  await readPage([3], "v2");
  expect(reads).toBe(6);
});
