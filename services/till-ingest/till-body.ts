import type { BodyReader } from "@pragma/runtime/define-route";
import type { FaultyBody } from "@pragma/runtime/faults";
import { maxBodyBytes } from "@pragma/runtime/receiving-budget";
import { openThreadedReader } from "@pragma/runtime/threaded-reader";
import type { z } from "zod";
import type { FormatOf, TillFormat, WantedFormat } from "./read-till.ts";
import { readTill, type SoundTill } from "./read-till.ts";
import type { TillIngest } from "./till-ingest.ts";

/** A till that was pushed and is as it should be, with its exact bytes. */
export interface ReceivedTill<Format extends TillFormat = TillFormat> extends SoundTill<Format> {
  bytes: Uint8Array;
}

/** Below this size, in bytes, reading takes less than handing over to a thread is worth: two milliseconds at most. */
const inlineSize = 128 * 1024;

/** Reads the bodies of tills: parsing and checking thousands of orders would hold up requests. */
export function openTillReader(options: { threads: number; heapMegabytes: number }) {
  const reader = openThreadedReader(import.meta.url, "./read-till", readTill, { ...options, inlineSize });
  return {
    ...reader,
    /** As the reader of bodies does; what is sound comes with its bytes. */
    async read<Wanted extends WantedFormat>(
      given: Uint8Array,
      format: Wanted,
      sender: string,
    ): Promise<ReceivedTill<FormatOf<Wanted>> | FaultyBody> {
      const { result, bytes } = await reader.read(given, format, sender);
      return "faults" in result ? result : ({ ...result, bytes } as ReceivedTill<FormatOf<Wanted>>);
    },
  };
}

/** A till in this format, or in either, as the body of a request: read and checked beside the requests, its bytes kept as they came. */
export function tillBody<Wanted extends WantedFormat>(
  format: Wanted,
  schema: z.ZodType,
): BodyReader<ReceivedTill<FormatOf<Wanted>>, TillIngest> {
  return {
    schema,
    limit: maxBodyBytes,
    async read(bytes, { reader }, sender) {
      const till = await reader.read(bytes, format, sender);
      return "faults" in till ? till : { value: till };
    },
  };
}
