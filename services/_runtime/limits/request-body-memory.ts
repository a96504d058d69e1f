import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import { ApiError } from "@pragma/contracts/errors";
import { KeyedCounter } from "./keyed-counter.ts";

const mebibyte = 1024 * 1024;

/** The largest body that is taken, after inflating. */
export const maxRequestBodyBytes = 50 * mebibyte;

/** Bodies up to this size are still received when larger ones no longer are. */
const smallBodyBytes = mebibyte;
/** The part of the budget that only small bodies may take. */
const smallBodyShare = 0.1;

let memoryLimitBytes = computeDefaultMemoryLimit();
const heldBytes = new KeyedCounter();

/** Sets how many bytes of bodies this process holds in memory at once, over all requests of all its services. */
export function setRequestBodyMemoryLimit(megabytes: number | undefined): void {
  memoryLimitBytes = megabytes === undefined ? computeDefaultMemoryLimit() : megabytes * mebibyte;
}

/** A quarter of the process's memory, or half of its heap where that is less: 256 MB at most, and one body at least. */
function computeDefaultMemoryLimit(): number {
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  const share = Math.min(256 * mebibyte, memory / 4, getHeapStatistics().heap_size_limit / 2);
  return Math.max(share, maxRequestBodyBytes / (1 - smallBodyShare));
}

/** What one sender may take: a quarter, and the largest body in any case. */
function getSenderLimitBytes(): number {
  return Math.min(memoryLimitBytes * (1 - smallBodyShare), Math.max(memoryLimitBytes / 4, maxRequestBodyBytes));
}

/** What one request takes of the process's memory for bodies; given back when the request is done. */
export class RequestBodyMemoryReservation {
  readonly #sender: string;
  #taken = 0;

  /** `sender` is the location of the key, or the key of one that has no location. */
  constructor(sender: string) {
    this.#sender = sender;
  }

  /** @throws `ApiError` overloaded when the process, or this sender in it, holds too much already. */
  reserve(bytes: number): void {
    if (heldBytes.get(this.#sender) + bytes > getSenderLimitBytes()) throw createSenderLimitError();
    const isSmall = this.#taken + bytes <= smallBodyBytes;
    if (heldBytes.total + bytes > (isSmall ? memoryLimitBytes : memoryLimitBytes * (1 - smallBodyShare)))
      throw createMemoryLimitError();
    heldBytes.add(bytes, this.#sender);
    this.#taken += bytes;
  }

  release(): void {
    if (this.#taken === 0) return;
    heldBytes.add(-this.#taken, this.#sender);
    this.#taken = 0;
  }
}

function createSenderLimitError(): ApiError {
  const maximum = Math.floor(getSenderLimitBytes());
  return new ApiError("overloaded", {
    detail: `More bodies of this location are being received than the ${Math.floor(maximum / mebibyte)} MB that it may send at once. Try again in a moment.`,
    limit: { name: "bodies in hand of a location", maximum, unit: "bytes" },
  });
}

function createMemoryLimitError(): ApiError {
  return new ApiError("overloaded", {
    detail: "More bodies are being received than this server holds at once. Try again in a moment.",
  });
}
