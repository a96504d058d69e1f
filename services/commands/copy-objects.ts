import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
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
import { objectColumns } from "./location-tables.ts";
import { createProgressLog } from "./progress-log.ts";

/** The body of a till, a packed till, or a file of an accounting export. `hash` is the SHA-256 of the object before compression, in hexadecimal. */
interface StoredObject {
  key: string;
  hash: string;
}

const maxConcurrentCopies = 16;

const listPageRows = 5_000;

/**
 * Writes the objects to which the rows of a service refer to a file, one JSON object per line. Reads a page of one partition
 * at a time, so that memory does not grow with their number.
 */
export async function writeStoredObjects(
  sql: postgres.Sql,
  { name, schema }: { name: ServiceName; schema: string },
  file: string,
): Promise<void> {
  const readPages = async function* () {
    for (const objects of objectColumns.filter(({ service }) => service === name)) {
      // Returns no partitions for a table that is not partitioned.
      const tables = await sql<{ name: string }[]>`
        select coalesce(relid, named)::regclass::text as name
        from to_regclass(${`${schema}.${objects.table}`}) as named left join pg_partition_tree(named) on isleaf
        where named is not null order by 1`;
      for (const { name: table } of tables) {
        // In the order of the index on (location_id, object_key). Revisions that share a body have the same location.
        const pages = sql<StoredObject[]>`
          select ${sql(objects.column)} as key, min(${sql(objects.hash)}) as hash from ${sql(table)}
          where ${sql.unsafe(objects.condition)} and ${sql.unsafe(objects.backupCondition ?? "true")} group by location_id, ${sql(objects.column)} order by location_id, ${sql(objects.column)}`;
        for await (const page of pages.cursor(listPageRows))
          yield page.map(({ key, hash }) => `${JSON.stringify({ key, hash })}\n`).join("");
      }
    }
  };
  await pipeline(readPages, createWriteStream(file, { mode: 0o600 }));
}

/** Returns the objects in files that `writeStoredObjects` wrote. */
export async function* readStoredObjects(files: string[]): AsyncGenerator<StoredObject> {
  for (const file of files)
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY }))
      yield JSON.parse(line);
}

/** Copies objects as they are stored, except copied ones, which never change, and missing or damaged ones. */
export async function copyObjects(
  objects: AsyncGenerator<StoredObject>,
  { log, ...urls }: { from: string; to: string; log: (line: string) => void },
) {
  const from = createObjectStore(urls.from);
  const to = createObjectStore(urls.to);
  const logProgress = createProgressLog(log);
  const result = { objects: 0, missingObjects: 0, damagedObjects: [] as string[] };
  try {
    const copyRemaining = async () => {
      for await (const object of objects) {
        result.objects += 1;
        const outcome = await copyObject(object, from, to);
        if (outcome === "missing") result.missingObjects += 1;
        if (outcome === "damaged") result.damagedObjects.push(object.key);
        logProgress("objects", result.objects);
      }
    };
    await Promise.all(Array.from({ length: maxConcurrentCopies }, copyRemaining));
    return result;
  } finally {
    await from.close();
    await to.close();
  }
}

async function copyObject({ key, hash }: StoredObject, from: CompressingObjectStore, to: CompressingObjectStore) {
  if (await to.has(key)) return "copied";
  try {
    const { body, encoding } = await from.streamStored(key);
    const stored = new Uint8Array(await arrayBuffer(Readable.fromWeb(body as ReadableStream<Uint8Array>)));
    if ((await computeObjectHash(stored, encoding)) !== hash) return "damaged";
    await to.putStored(key, stored);
    return "copied";
  } catch (error) {
    if (error instanceof ObjectNotFoundError) return "missing";
    throw error;
  }
}

/** The maximum size of a decompressed object: twice that of a push, because an erasure writes the JSON again. */
const maxObjectBytes = 100 * 1024 * 1024;

/** Returns the hash of an object, without its decompressed form in memory; undefined if it is damaged or too large. */
async function computeObjectHash(stored: Uint8Array, encoding: "br" | undefined): Promise<string | undefined> {
  const hash = createHash("sha256");
  if (encoding === undefined) return hash.update(stored).digest("hex");
  let bytes = 0;
  try {
    await pipeline(Readable.from([stored]), createBrotliDecompress(), async (chunks: AsyncIterable<Uint8Array>) => {
      for await (const chunk of chunks) {
        bytes += chunk.byteLength;
        if (bytes > maxObjectBytes) throw new RangeError("The object is too large.");
        hash.update(chunk);
      }
    });
    return hash.digest("hex");
  } catch {
    return undefined;
  }
}
