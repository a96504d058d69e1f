import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import { ApiError } from "@pragma/contracts/errors";
import { KeyedUsageCounter } from "./keyed-counter.ts";

const mebibyte = 1024 * 1024;

/** The largest accepted body, after inflating. */
export const maxRequestBodyBytes = 50 * mebibyte;

/** Bodies up to this size are still accepted when larger ones no longer are. */
const smallBodyBytes = mebibyte;
/** The share of the memory limit that only small bodies may use. */
const smallBodyShare = 0.1;

let memoryLimitBytes = computeDefaultMemoryLimit();
const heldBytes = new KeyedUsageCounter();

/** Sets how many megabytes of bodies this process holds in memory at once, over all requests of all its services. */
export function setRequestBodyMemoryLimit(megabytes: number | undefined): void {
  memoryLimitBytes = megabytes === undefined ? computeDefaultMemoryLimit() : megabytes * mebibyte;
}

/** Returns the least of a quarter of the memory, half of the heap and 256 MB, but enough for the largest body. */
function computeDefaultMemoryLimit(): number {
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  const share = Math.min(256 * mebibyte, memory / 4, getHeapStatistics().heap_size_limit / 2);
  return Math.max(share, maxRequestBodyBytes / (1 - smallBodyShare));
}

/** Returns the bytes that one sender may hold: a quarter of the limit, but always enough for the largest body. */
function getSenderLimitBytes(): number {
  return Math.min(memoryLimitBytes * (1 - smallBodyShare), Math.max(memoryLimitBytes / 4, maxRequestBodyBytes));
}

/** The memory that one request holds for its body, to be released when the request is done. */
export class RequestBodyMemoryReservation {
  readonly #sender: string;
  #reservedBytes = 0;

  /** `sender` is the location of the key, or the key of one that has no location. */
  constructor(sender: string) {
    this.#sender = sender;
  }

  /** @throws `ApiError` overloaded when the process or this sender would hold too much. */
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
    detail: `This location is sending more than ${Math.floor(maximum / mebibyte)} MB of request bodies at once. Retry shortly.`,
    limit: { name: "concurrent_body_bytes_per_location", maximum, unit: "bytes" },
  });
}

function createMemoryLimitError(): ApiError {
  return new ApiError("overloaded", {
    detail: "The server is receiving more request bodies than it can hold at once. Retry shortly.",
  });
}
