import { ApiError } from "@pragma/contracts/errors";
import { createSemaphore } from "@pragma/runtime/semaphore";
import { createWorkerPool, OutOfMemoryError } from "@pragma/runtime/worker-pool";
import { readTill, type SoundTill } from "./read-till.ts";
import type { ReadTillAnswer, ReadTillTask } from "./read-till-worker.ts";
import type { FaultyTill, FormatOf, TillFormat, WantedFormat } from "./till-facts.ts";

/** A till that was pushed and is as it should be, with its exact bytes. */
export interface ReceivedTill<Format extends TillFormat = TillFormat> extends SoundTill<Format> {
  bytes: Uint8Array;
}

/** Reads the bodies of tills without holding up requests. */
export interface TillReader {
  /**
   * The bytes are the reader's from now on; what it answers holds them again. Each sender's large bodies are read one
   * after the other.
   *
   * @throws `ApiError` malformed_json, body_too_large.
   */
  read<Wanted extends WantedFormat>(
    bytes: Uint8Array,
    format: Wanted,
    sender: string,
  ): Promise<ReceivedTill<FormatOf<Wanted>> | FaultyTill>;
  close(): Promise<void>;
}

/** Below this size, in bytes, reading takes less than handing over to a thread is worth: two milliseconds at most. */
const inlineSize = 128 * 1024;

/** From this size on, in bytes, bodies are read one at a time: one can take most of the memory that a thread may have. */
const hugeSize = 4 * 1024 * 1024;

export function openTillReader(options: { threads: number; heapMegabytes: number }): TillReader {
  const pool = createWorkerPool<ReadTillTask, ReadTillAnswer>(import.meta.url, "./read-till-worker", options);
  const turns = createSemaphore(1);
  const huge = createSemaphore(1);

  async function runTask(task: ReadTillTask): Promise<ReadTillAnswer> {
    const run = () => pool.run(task, [task.bytes.buffer]);
    try {
      return await (task.bytes.byteLength < hugeSize ? run() : huge.run(run));
    } catch (error) {
      if (!(error instanceof OutOfMemoryError)) throw error;
      throw new ApiError("body_too_large", {
        detail: "Reading this body takes more memory than there is.",
        cause: error,
      });
    }
  }

  async function readInThread(
    given: Uint8Array,
    format: WantedFormat,
    sender: string,
  ): Promise<ReceivedTill | FaultyTill> {
    const task = { bytes: wholeBuffer(given), format };
    const { till, bytes } = await turns.run(() => runTask(task), sender);
    if ("malformed" in till) throw new ApiError("malformed_json", { detail: till.malformed });
    return "faults" in till ? till : { ...till, bytes };
  }

  async function read(bytes: Uint8Array, format: WantedFormat, sender: string): Promise<ReceivedTill | FaultyTill> {
    if (bytes.byteLength > inlineSize) return readInThread(bytes, format, sender);
    const till = readTill(bytes, format);
    return "faults" in till ? till : { ...till, bytes };
  }

  return { read: read as TillReader["read"], close: () => pool.close() };
}

/** The same bytes in a buffer that holds nothing else, so that handing it over takes nothing from anybody. */
function wholeBuffer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isWhole ? new Uint8Array(buffer) : new Uint8Array(bytes);
}
