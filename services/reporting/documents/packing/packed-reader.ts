import { ApiError } from "@pragma/contracts/errors";
import { Admission } from "@pragma/runtime/admission/admission";
import { locationLimits } from "@pragma/runtime/admission/limits";
import { racePromiseWithAbort } from "@pragma/runtime/concurrency/race-promise-with-abort";
import { type CompressingObjectStore, ObjectStoreUnavailableError } from "@pragma/runtime/object-store/object-store";
import { findBlock, type PackedTillIndex } from "../queries/packed-tills.ts";
import { decodeReportBlock, decodeText, decodeV1Orders, verifyBlockChecksum } from "./pack-format.ts";
import { countIfUnreadable } from "./packed-object.ts";

type PackedObjects = Pick<CompressingObjectStore, "getStoredRange">;

/** A packed report, or the packed order at a position of a till. */
export interface PackedResponseReference {
  till: PackedTillIndex;
  /** Null for the report. */
  position: number | null;
}

interface PackedBlock {
  till: PackedTillIndex;
  block: number;
  signal?: AbortSignal;
}

/** The columns of a query of which a reference consists. */
export type PackedReferenceColumns = [
  /** `PackedTillIndex` as JSON; null for a text that is not packed. */
  till: Buffer | null,
  /** Null for a report. */
  position: Buffer | null,
];

/**
 * Returns the reference in the columns of a row without a text.
 *
 * @throws `ApiError` service_unavailable for an order of a lost till.
 */
export function parsePackedReference([till, position]: PackedReferenceColumns): PackedResponseReference {
  if (!till) throw createPackedResponseError("The till of the order is lost. It must be reprocessed.");
  return { till: JSON.parse(String(till)), position: position && Number(position) };
}

const blocksOfLocations = new Admission(locationLimits.packedBlocks);
const decodedBlocks = new Admission(locationLimits.decodedBlocks);

/** After this time without an answer, the object store counts as unavailable for a while, and blocks are not read. */
const blockTimeoutMs = 3_000;
const retryStoreAfterMs = 2_000;
/** When the blocks of an object store that did not answer are read again, in the milliseconds of `performance.now`. */
const retryTimes = new WeakMap<PackedObjects, number>();

/** The maximum time of reading the blocks of a request, including the time that it waits for other requests. */
const requestTimeoutMs = 10_000;

/**
 * Returns packed V1 responses of orders or V0 responses of reports, in the order of the references. Each block is read
 * once, so that a page of orders needs few reads.
 *
 * @throws `ApiError` service_unavailable if the object store does not return the blocks in time, or returns other bytes.
 */
export async function readPackedBodies(
  objects: PackedObjects,
  references: PackedResponseReference[],
): Promise<Buffer[]> {
  const bodies: Buffer[] = [];
  const blocks = new Map<string, PackedBlock & { indexes: number[] }>();
  for (const [index, { till, position }] of references.entries()) {
    const block = findBlock(till, position);
    const key = `${till.objectKey} ${block}`;
    const entry = blocks.get(key) ?? { till, block, indexes: [] };
    entry.indexes.push(index);
    blocks.set(key, entry);
  }
  const signal = AbortSignal.timeout(requestTimeoutMs);
  await Promise.all(
    [...blocks.values()].map(async ({ till, block, indexes }) => {
      const firstPosition = till.blockFirstPositions[block] ?? 0;
      const offsets = indexes.map((index) => (references[index]?.position ?? 0) - firstPosition);
      const selected = { v1End: till.blockV1Ends[block] ?? 0, count: Math.max(...offsets) + 1 };
      const texts = await readPackedBlock(objects, { till, block, signal }, async (bytes) =>
        block === 0 ? [Buffer.from((await decodeReportBlock(bytes)).v0)] : decodeV1Orders(bytes, selected),
      );
      for (const [number, index] of indexes.entries()) {
        const text = texts[offsets[number] ?? 0];
        if (!text) throw new Error(`${till.objectKey} does not contain the response at this position.`);
        // A copy, so that the other orders of the block need not stay in memory.
        bodies[index] = Buffer.from(text);
      }
    }),
  );
  return bodies;
}

/** Returns one packed response, or its size in bytes if it is larger than `maxBytes`. See `readPackedBodies`. */
export async function readPackedBody(
  objects: PackedObjects,
  reference: PackedResponseReference,
  { body, maxBytes }: { body: string; maxBytes: number },
): Promise<Buffer | number> {
  const { till, position } = reference;
  const block = findBlock(till, position);
  const order = position === null ? null : position - (till.blockFirstPositions[block] ?? 0);
  return readPackedBlock(objects, { till, block }, (bytes) => decodeText(bytes, { order, body }, maxBytes));
}

/**
 * Returns what `decode` returns for a block of a packed till, when few enough blocks of the location are being read. The
 * first block is the report. `signal` is aborted when the request has waited too long.
 *
 * @throws `ApiError` service_unavailable, as `readPackedBodies` does.
 */
export async function readPackedBlock<T>(
  objects: PackedObjects,
  { till, block, signal = AbortSignal.timeout(requestTimeoutMs) }: PackedBlock,
  decode: (bytes: Uint8Array) => Promise<T>,
): Promise<T> {
  const { objectKey } = till;
  // The objects of a location are in one folder.
  const location = objectKey.slice(0, objectKey.lastIndexOf("/"));
  const readAndDecode = async () => {
    // Otherwise, waiting requests would time out one after another, and lists of later days would wait for them.
    if (performance.now() < (retryTimes.get(objects) ?? 0)) throw new Error("The object store did not answer before.");
    const bytes = await readBlock(objects, till, block);
    return decodedBlocks.run(() => decode(bytes));
  };
  try {
    return await racePromiseWithAbort(blocksOfLocations.run(readAndDecode, location, { signal }), signal);
  } catch (cause) {
    countIfUnreadable(cause);
    throw createPackedResponseError(`block ${block} of ${objectKey} cannot be read`, cause);
  }
}

function createPackedResponseError(message: string, cause?: unknown): ApiError {
  return new ApiError("service_unavailable", {
    detail: "Reports and orders of earlier days are temporarily unavailable. Retry shortly.",
    cause: new ObjectStoreUnavailableError(message, { cause }),
  });
}

async function readBlock(
  objects: PackedObjects,
  { objectKey, blockEnds }: PackedTillIndex,
  block: number,
): Promise<Uint8Array> {
  const range = { start: blockEnds[block - 1] ?? 0, end: blockEnds[block] ?? 0 };
  const timeout = AbortSignal.timeout(blockTimeoutMs);
  const reading = objects.getStoredRange(objectKey, range);
  const stored = await racePromiseWithAbort(reading, timeout).catch((error: unknown) => {
    if (timeout.aborted) retryTimes.set(objects, performance.now() + retryStoreAfterMs);
    throw error;
  });
  return verifyBlockChecksum(stored, { objectKey, block });
}
