import { LRUCache } from "lru-cache";

/** The V1 responses of a block of orders. */
type DecodedOrders = (Buffer | null)[];

/** Blocks with more text are rare, and each of them would displace many others. */
const maxBlockBytes = 2 * 1024 * 1024;
/** A client that reads one page after the other requests the next page within this time, in milliseconds. */
const maxAgeMs = 30_000;

const caches = new WeakMap<object, LRUCache<string, DecodedOrders>>();

/**
 * Keeps the V1 responses of the blocks of `objects` that lists read last, up to `maxBytes`. A client that reads one page
 * after the other needs most blocks twice, because pages and blocks have different sizes, and decompressing a block takes
 * longer than the rest of the request. Objects never change, and rows decide which responses a client can read, so
 * nothing removes a block before its time.
 */
export function enableDecodedBlockCache(objects: object, { maxBytes }: { maxBytes: number }): void {
  if (maxBytes === 0) return;
  const cache = new LRUCache<string, DecodedOrders>({
    maxSize: maxBytes,
    maxEntrySize: Math.min(maxBytes, maxBlockBytes),
    // The responses are parts of one buffer, which also has the rest of the last decompressed chunk.
    sizeCalculation: ([first]) => Math.max(1, first?.buffer.byteLength ?? 0),
    ttl: maxAgeMs,
  });
  caches.set(objects, cache);
}

/** Returns the cache of an object store; undefined if it is not enabled. */
export function getDecodedBlockCache(objects: object): LRUCache<string, DecodedOrders> | undefined {
  return caches.get(objects);
}
