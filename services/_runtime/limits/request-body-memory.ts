import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import { ApiError } from "@pragma/contracts/errors";
import { KeyedUsageCounter } from "./keyed-counter.ts";

const mebibyte = 1024 * 1024;

/** Maximum size of a request body after decompression, in bytes. */
export const maxRequestBodyBytes = 50 * mebibyte;

/** Maximum size of a small body, in bytes. Small bodies are still accepted when larger bodies are rejected. */
const smallBodyBytes = mebibyte;
/** The fraction of the memory limit that only small bodies may use. */
const smallBodyShare = 0.1;

let memoryLimitBytes = computeDefaultMemoryLimit();
const heldBytes = new KeyedUsageCounter();

/** Sets the maximum total size, in megabytes, of the request bodies in this process. `undefined` sets the default. */
export function setRequestBodyMemoryLimit(megabytes: number | undefined): void {
  memoryLimitBytes = megabytes === undefined ? computeDefaultMemoryLimit() : megabytes * mebibyte;
}

/**
 * Returns the default memory limit in bytes: a quarter of the process's memory, half of its heap or 256 MB, whichever
 * is smallest. The limit is never too small for one body of the maximum size.
 */
function computeDefaultMemoryLimit(): number {
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  const share = Math.min(256 * mebibyte, memory / 4, getHeapStatistics().heap_size_limit / 2);
  return Math.max(share, maxRequestBodyBytes / (1 - smallBodyShare));
}

/** Returns the limit of one sender in bytes: a quarter of the memory limit, but at least the maximum body size. */
function getSenderLimitBytes(): number {
  return Math.min(memoryLimitBytes * (1 - smallBodyShare), Math.max(memoryLimitBytes / 4, maxRequestBodyBytes));
}

/** The memory that is reserved for the body of one request. Release it when the request has finished. */
export class RequestBodyMemoryReservation {
  readonly #sender: string;
  #reservedBytes = 0;

  /** `sender` is the location of the request's API key, or the key itself if it has no location. */
  constructor(sender: string) {
    this.#sender = sender;
  }

  /** Reserves memory. @throws `ApiError` overloaded if the limit of the process or of the sender would be exceeded. */
  reserve(bytes: number): void {
    if (heldBytes.get(this.#sender) + bytes > getSenderLimitBytes()) throw createSenderLimitError();
    const isSmall = this.#reservedBytes + bytes <= smallBodyBytes;
    if (heldBytes.total + bytes > (isSmall ? memoryLimitBytes : memoryLimitBytes * (1 - smallBodyShare)))
      throw createMemoryLimitError();
    heldBytes.add(bytes, this.#sender);
    this.#reservedBytes += bytes;
  }

  release(): void {
    if (this.#reservedBytes === 0) return;
    heldBytes.add(-this.#reservedBytes, this.#sender);
    this.#reservedBytes = 0;
  }
}

function createSenderLimitError(): ApiError {
  const maximum = Math.floor(getSenderLimitBytes());
  return new ApiError("overloaded", {
    detail: `This location is sending more than ${Math.floor(maximum / mebibyte)} MB of request bodies at the same time. Retry shortly.`,
    limit: { name: "concurrent_body_bytes_per_location", maximum, unit: "bytes" },
  });
}

function createMemoryLimitError(): ApiError {
  return new ApiError("overloaded", {
    detail: "The server is receiving too many large request bodies at the same time. Retry shortly.",
  });
}
