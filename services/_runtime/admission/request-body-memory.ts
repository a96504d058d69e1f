import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import { Admission } from "./admission.ts";
import { locationLimits } from "./limits.ts";

const mebibyte = 1024 * 1024;
/** Maximum size of a request body after decompression, in bytes. */
export const maxRequestBodyBytes = 50 * mebibyte;

/** Maximum size of a small body, in bytes. Small bodies are still accepted when larger bodies are rejected. */
const smallBodyBytes = mebibyte;
/** The fraction of the memory limit that only small bodies may use. */
const smallBodyShare = 0.1;

let memoryLimitBytes = computeDefaultMemoryLimit();
const bodyBytes = new Admission({
  ...locationLimits.bodyBytes,
  // A quarter of the memory limit, but at least the maximum body size.
  perSender: () =>
    Math.min(memoryLimitBytes * (1 - smallBodyShare), Math.max(memoryLimitBytes / 4, maxRequestBodyBytes)),
  perProcess: () => memoryLimitBytes,
});

/** Sets the maximum total size, in megabytes, of the request bodies in this process. `undefined` sets the default. */
export function setRequestBodyMemoryLimit(megabytes: number | undefined): void {
  memoryLimitBytes = megabytes === undefined ? computeDefaultMemoryLimit() : megabytes * mebibyte;
}

/** A quarter of the memory, half of the heap or 256 MB, whichever is smallest, but enough for one maximum body. */
function computeDefaultMemoryLimit(): number {
  const share = Math.min(256 * mebibyte, readMemoryLimitBytes() / 4, getHeapStatistics().heap_size_limit / 2);
  return Math.max(share, maxRequestBodyBytes / (1 - smallBodyShare));
}

/** Returns the number of bytes that this process may use: the limit of its container, or else the machine's memory. */
export function readMemoryLimitBytes(): number {
  // 0 if the limit is unknown, and a very large number if there is none.
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** The memory that is reserved for the body of one request. Release it when the request has finished. */
export class RequestBodyMemoryReservation {
  readonly #sender: string;
  readonly #releases: (() => void)[] = [];
  #reservedBytes = 0;

  constructor(sender: string) {
    this.#sender = sender;
  }

  /** Reserves memory. @throws `ApiError` overloaded if the limit of the process or of the sender would be exceeded. */
  reserve(bytes: number): void {
    const isSmall = this.#reservedBytes + bytes <= smallBodyBytes;
    this.#releases.push(bodyBytes.hold(this.#sender, bytes, isSmall ? 0 : memoryLimitBytes * smallBodyShare));
    this.#reservedBytes += bytes;
  }

  release(): void {
    for (const release of this.#releases.splice(0)) release();
    this.#reservedBytes = 0;
  }
}
