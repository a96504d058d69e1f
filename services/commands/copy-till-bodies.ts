import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { arrayBuffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { createBrotliDecompress } from "node:zlib";
import type { ServiceName } from "@pragma/contracts/service-names";
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

/** The number of rows that are read from PostgreSQL at a time. */
const listPageRows = 5_000;

/** The tables of each service that name stored objects: the objects of their rows that meet the condition are copied. */
const objectTables: Partial<Record<ServiceName, { table: string; condition: string }>> = {
  "till-ingest": { table: "till_versions", condition: "body_removed_at is null" },
  reporting: { table: "packed_tills", condition: "true" },
};

/**
 * Writes the objects to which the rows of a service refer to a file, one JSON object per line: bodies of till revisions,
 * and packed tills. Reads one partition at a time, a page of rows at a time, so that memory does not grow with the number
 * of objects. Writes an empty file for a service without objects, or without the table in an earlier version.
 */
export async function writeStoredObjects(
  sql: postgres.Sql,
  { name, schema }: { name: ServiceName; schema: string },
  file: string,
): Promise<void> {
  const objects = objectTables[name];
  if (!objects) return writeFile(file, "", { mode: 0o600 });
  // Returns no partitions for a table that is not partitioned.
  const tables = await sql<{ name: string }[]>`
    select coalesce(relid, named)::regclass::text as name
    from to_regclass(${`${schema}.${objects.table}`}) as named left join pg_partition_tree(named) on isleaf
    where named is not null order by 1`;
  const readPages = async function* () {
    for (const { name: table } of tables) {
      // In the order of the index on (location_id, object_key). Revisions that share a body have the same location.
      const pages = sql<StoredTillBody[]>`
        select object_key as key, min(hash) as hash from ${sql(table)}
        where ${sql.unsafe(objects.condition)} group by location_id, object_key order by location_id, object_key`;
      for await (const page of pages.cursor(listPageRows))
        yield page.map(({ key, hash }) => `${JSON.stringify({ key, hash })}\n`).join("");
    }
  };
  await pipeline(readPages, createWriteStream(file, { mode: 0o600 }));
}

/** Returns the objects in files that `writeStoredObjects` wrote. */
export async function* readStoredObjects(files: string[]): AsyncGenerator<StoredTillBody> {
  for (const file of files) yield* readLines(file);
}

async function* readLines(file: string): AsyncGenerator<StoredTillBody> {
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY }))
    yield JSON.parse(line);
}

/**
 * Copies till bodies to another object store, in the form in which they are stored. Skips bodies that have a copy,
 * because bodies never change, and bodies that are missing or do not have their hash.
 */
export async function copyTillBodies(
  bodies: AsyncGenerator<StoredTillBody>,
  urls: { from: string; to: string },
): Promise<TillBodyCopyResult> {
  const from = createObjectStore(urls.from);
  const to = createObjectStore(urls.to);
  const result: TillBodyCopyResult = { objects: 0, missingObjects: 0, damagedObjects: [] };
  try {
    const copyRemaining = async () => {
      for await (const body of bodies) {
        result.objects += 1;
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
  if (await to.has(key)) return "copied";
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

/** The maximum size of a decompressed body: twice that of a push, because an erasure writes the JSON again. */
const maxBodyBytes = 100 * 1024 * 1024;

/**
 * Returns the hash of a body, or undefined if it cannot be decompressed or is larger than any body. Does not hold the
 * decompressed body in memory.
 */
export async function computeBodyHash(stored: Uint8Array, encoding: "br" | undefined): Promise<string | undefined> {
  const hash = createHash("sha256");
  if (encoding === undefined) return hash.update(stored).digest("hex");
  let bytes = 0;
  try {
    await pipeline(Readable.from([stored]), createBrotliDecompress(), async (chunks: AsyncIterable<Uint8Array>) => {
      for await (const chunk of chunks) {
        bytes += chunk.byteLength;
        if (bytes > maxBodyBytes) throw new RangeError("The body is too large.");
        hash.update(chunk);
      }
    });
    return hash.digest("hex");
  } catch {
    return undefined;
  }
}
