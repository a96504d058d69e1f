import { ApiError } from "@pragma/contracts/errors";
import { handOver } from "@pragma/runtime/worker-pool";
import { readTill, type SoundTill } from "./read-till.ts";
import type { FaultyTill, WantedFormat } from "./till-facts.ts";

/** A body for a thread to read. Its bytes are handed over, and handed back with the answer. */
export interface ReadTillTask {
  bytes: Uint8Array<ArrayBuffer>;
  format: WantedFormat;
}

/** What a thread read. An error loses its class on the way between threads: malformed JSON travels as its detail. */
export interface ReadTillAnswer {
  till: SoundTill | FaultyTill | { malformed: string };
  bytes: Uint8Array<ArrayBuffer>;
}

/** Reads the body of a till in a thread of its own: parsing and checking thousands of orders would hold up requests. */
export default function readTillInThread({ bytes, format }: ReadTillTask): ReadTillAnswer {
  return handOver({ till: readOrExplain(bytes, format), bytes }, [bytes.buffer]);
}

function readOrExplain(bytes: Uint8Array, format: WantedFormat): ReadTillAnswer["till"] {
  try {
    return readTill(bytes, format);
  } catch (error) {
    if (error instanceof ApiError && error.code === "malformed_json") return { malformed: error.message };
    throw error;
  }
}
