import { createThreadedBodyParser } from "@pragma/runtime/concurrency/threaded-body-parser";
import type { RequestBodyParser } from "@pragma/runtime/http/define-route";
import type { BodyIssues } from "@pragma/runtime/json/body-issues";
import { maxRequestBodyBytes } from "@pragma/runtime/limits/request-body-memory";
import type { z } from "zod";
import type { TillIngestContext } from "../context.ts";
import type { RequestedTillFormat, ResolvedTillFormat, TillFormat } from "./parse-till-body.ts";
import { type ParsedTill, parseTillBody } from "./parse-till-body.ts";

/** A till that was pushed and is as it should be, with its exact bytes. */
export interface ReceivedTill<Format extends TillFormat = TillFormat> extends ParsedTill<Format> {
  bytes: Uint8Array;
}

/** Below this size, in bytes, reading takes less than handing over to a thread is worth: two milliseconds at most. */
const maxInlineBytes = 128 * 1024;

/** Reads the bodies of tills: parsing and checking thousands of orders would hold up requests. */
export function createTillBodyReader(options: { threads: number; heapMegabytes: number }) {
  const reader = createThreadedBodyParser(import.meta.url, "./parse-till-body", parseTillBody, {
    ...options,
    maxInlineBytes,
  });
  return {
    ...reader,
    /** As the reader of bodies does; what is sound comes with its bytes. */
    async read<Wanted extends RequestedTillFormat>(
      given: Uint8Array,
      format: Wanted,
      sender: string,
    ): Promise<ReceivedTill<ResolvedTillFormat<Wanted>> | BodyIssues> {
      const { result, bytes } = await reader.read(given, format, sender);
      return "issues" in result ? result : ({ ...result, bytes } as ReceivedTill<ResolvedTillFormat<Wanted>>);
    },
  };
}

/** A till in this format, or in either, as the body of a request: read and checked beside the requests, its bytes kept as they came. */
export function tillRequestBody<Wanted extends RequestedTillFormat>(
  format: Wanted,
  schema: z.ZodType,
): RequestBodyParser<ReceivedTill<ResolvedTillFormat<Wanted>>, TillIngestContext> {
  return {
    schema,
    maxBytes: maxRequestBodyBytes,
    async parse(bytes, { reader }, sender) {
      const till = await reader.read(bytes, format, sender);
      return "issues" in till ? till : { value: till };
    },
  };
}
