import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { arrayBuffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { createBrotliDecompress } from "node:zlib";
import {
  type CompressingObjectStore,
  createObjectStore,
  ObjectNotFoundError,
} from "@pragma/runtime/object-store/object-store";
import type postgres from "postgres";

/** A stored till body. `hash` is the SHA-256 of the body before compression, in hexadecimal. */
interface StoredTillBody {
  key: string;
  hash: string;
}

/** The outcome of a copy: the number of bodies, how many of them no longer exist, and the keys of damaged bodies. */
export interface TillBodyCopyResult {
  objects: number;
  missingObjects: number;
  damagedObjects: string[];
}

const maxConcurrentCopies = 16;

/** Returns all bodies to which the till revisions in a till-ingest schema refer. */
export async function listStoredTillBodies(sql: postgres.Sql, schema: string): Promise<StoredTillBody[]> {
  return sql<StoredTillBody[]>`
    select object_key as key, min(hash) as hash from ${sql(schema)}.till_versions
    where body_removed_at is null group by object_key`;
}

/**
 * Copies till bodies to another object store, in the form in which they are stored. Skips bodies that have a copy,
 * because bodies never change, and bodies that are missing or do not have their hash.
 */
export async function copyTillBodies(
  bodies: readonly StoredTillBody[],
  urls: { from: string; to: string },
): Promise<TillBodyCopyResult> {
  const from = createObjectStore(urls.from);
  const to = createObjectStore(urls.to);
  const result: TillBodyCopyResult = { objects: bodies.length, missingObjects: 0, damagedObjects: [] };
  try {
    const remaining = bodies.values();
    const copyRemaining = async () => {
      for (const body of remaining) {
        const outcome = await copyTillBody(body, from, to);
        if (outcome === "missing") result.missingObjects += 1;
        if (outcome === "damaged") result.damagedObjects.push(body.key);
      }
    };
    await Promise.all(Array.from({ length: maxConcurrentCopies }, copyRemaining));
    return result;
  } finally {
    await from.close();
    await to.close();
  }
}

async function copyTillBody(
  { key, hash }: StoredTillBody,
  from: CompressingObjectStore,
  to: CompressingObjectStore,
): Promise<"copied" | "missing" | "damaged"> {
  if (await hasObject(key, to)) return "copied";
  try {
    const { body, encoding } = await from.streamStored(key);
    const stored = new Uint8Array(await arrayBuffer(Readable.fromWeb(body as ReadableStream<Uint8Array>)));
    if ((await computeBodyHash(stored, encoding)) !== hash) return "damaged";
    await to.putStored(key, stored);
    return "copied";
  } catch (error) {
    if (error instanceof ObjectNotFoundError) return "missing";
    throw error;
  }
}

/** Returns the hash of a body, or undefined if it cannot be decompressed. Does not hold the decompressed body in memory. */
async function computeBodyHash(stored: Uint8Array, encoding: "br" | undefined): Promise<string | undefined> {
  const hash = createHash("sha256");
  if (encoding === undefined) return hash.update(stored).digest("hex");
  try {
    await pipeline(Readable.from([stored]), createBrotliDecompress(), async (chunks: AsyncIterable<Uint8Array>) => {
      for await (const chunk of chunks) hash.update(chunk);
    });
    return hash.digest("hex");
  } catch {
    return undefined;
  }
}

async function hasObject(key: string, store: CompressingObjectStore): Promise<boolean> {
  try {
    const { body } = await store.streamStored(key);
    await body.cancel();
    return true;
  } catch (error) {
    if (error instanceof ObjectNotFoundError) return false;
    throw error;
  }
}
