import { createKeyedSemaphore } from "@pragma/runtime/concurrency/semaphore";
import type { CompressingObjectStore } from "@pragma/runtime/object-store/object-store";
import type { PackedTillIndex } from "../queries/packed-tills.ts";
import { decodeReportBlock, decodeV1Orders, decodeV2Orders, type PackedReportTexts } from "./pack-format.ts";

type PackedObjects = Pick<CompressingObjectStore, "getStoredRange">;

/** A packed report, or the packed order at a position of a till. */
export interface PackedReference {
  till: PackedTillIndex;
  /** Null for the report. */
  position: number | null;
}

/** The number of blocks that one request decompresses at a time. A block has up to 2 MB of text. */
const maxConcurrentBlocks = 4;

/**
 * Returns packed responses, in the order of the references. `body` is `v1` or `v2` for orders, and `v0` or `v2` for
 * reports. Each block is read once, so that a page of orders needs few reads.
 */
export async function readPackedBodies(
  objects: PackedObjects,
  references: PackedReference[],
  body: string,
): Promise<Buffer[]> {
  const bodies: Buffer[] = [];
  const blocks = new Map<string, { till: PackedTillIndex; block: number; indexes: number[] }>();
  for (const [index, { till, position }] of references.entries()) {
    const block = position === null ? 0 : till.blockFirstPositions.findLastIndex((first) => first <= position);
    const key = `${till.objectKey} ${block}`;
    const entry = blocks.get(key) ?? { till, block, indexes: [] };
    entry.indexes.push(index);
    blocks.set(key, entry);
  }
  const semaphore = createKeyedSemaphore(maxConcurrentBlocks);
  await Promise.all(
    [...blocks.values()].map(({ till, block, indexes }) =>
      semaphore.run(async () => {
        const bytes = await readBlock(objects, till, block);
        if (block === 0) {
          const { v0, v2 } = await decodeReportBlock(bytes);
          for (const index of indexes) bodies[index] = Buffer.from(body === "v0" ? v0 : v2);
          return;
        }
        const firstPosition = till.blockFirstPositions[block] ?? 0;
        const offsets = indexes.map((index) => (references[index]?.position ?? 0) - firstPosition);
        const decodeOrders = body === "v2" ? decodeV2Orders : decodeV1Orders;
        const texts = await decodeOrders(bytes, Math.max(...offsets) + 1);
        for (const [number, index] of indexes.entries()) {
          const text = texts[offsets[number] ?? 0];
          if (!text) throw new Error(`${till.objectKey} does not contain the order at this position.`);
          // A copy, so that the other orders of the block need not stay in memory.
          bodies[index] = Buffer.from(text);
        }
      }),
    ),
  );
  return bodies;
}

/** Returns the texts of a packed report. */
export async function readPackedReport(objects: PackedObjects, till: PackedTillIndex): Promise<PackedReportTexts> {
  return decodeReportBlock(await readBlock(objects, till, 0));
}

function readBlock(
  objects: PackedObjects,
  { objectKey, blockEnds }: PackedTillIndex,
  block: number,
): Promise<Uint8Array> {
  return objects.getStoredRange(objectKey, { start: blockEnds[block - 1] ?? 0, end: blockEnds[block] ?? 0 });
}
