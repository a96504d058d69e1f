import { ApiError } from "@pragma/contracts/errors";
import { createWorkerPool } from "@pragma/runtime/worker-pool";
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
   * The bytes are the reader's from now on; what it answers holds them again.
   *
   * @throws `ApiError` malformed_json.
   */
  read<Wanted extends WantedFormat>(
    bytes: Uint8Array,
    format: Wanted,
  ): Promise<ReceivedTill<FormatOf<Wanted>> | FaultyTill>;
  close(): Promise<void>;
}

/** Below this size, in bytes, reading takes less than handing over to a thread is worth: two milliseconds at most. */
const inlineSize = 128 * 1024;

export function openTillReader({ threads }: { threads: number }): TillReader {
  const pool = createWorkerPool<ReadTillTask, ReadTillAnswer>(import.meta.url, "./read-till-worker", { threads });

  async function readInThread(given: Uint8Array, format: WantedFormat): Promise<ReceivedTill | FaultyTill> {
    const whole = wholeBuffer(given);
    const { till, bytes } = await pool.run({ bytes: whole, format }, [whole.buffer]);
    if ("malformed" in till) throw new ApiError("malformed_json", { detail: till.malformed });
    return "faults" in till ? till : { ...till, bytes };
  }

  async function read(bytes: Uint8Array, format: WantedFormat): Promise<ReceivedTill | FaultyTill> {
    if (bytes.byteLength > inlineSize) return readInThread(bytes, format);
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
