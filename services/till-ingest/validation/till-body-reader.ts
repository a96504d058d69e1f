import { createThreadedBodyParser } from "@pragma/runtime/concurrency/threaded-body-parser";
import type { RequestBodyIssues } from "@pragma/runtime/json/body-issues";
import {
  type AcceptedTillBodyFormat,
  parseTillBodyMetadata,
  type TillMetadataWithBodyHash,
} from "./parse-till-body.ts";

/** The metadata of a valid till, with its exact bytes. */
export interface TillMetadataWithBodyBytes extends TillMetadataWithBodyHash {
  bytes: Uint8Array;
}

/** Maximum bytes of a body that is parsed without a thread, because parsing such a body takes only about 2 ms. */
const maxInlineBytes = 128 * 1024;

/** Creates a parser of till bodies. It parses large bodies in worker threads, so that they do not block requests. */
export function createThreadedTillBodyParser(options: { threads: number; heapMegabytes: number }) {
  const reader = createThreadedBodyParser(import.meta.url, "./parse-till-body", parseTillBodyMetadata, {
    ...options,
    maxInlineBytes,
  });
  return {
    ...reader,
    /** Returns the till with its bytes, or its issues. @throws `ApiError` malformed_json, body_too_large. */
    async read(
      body: Uint8Array,
      format: AcceptedTillBodyFormat,
      sender: string,
    ): Promise<TillMetadataWithBodyBytes | RequestBodyIssues> {
      const { result, bytes } = await reader.read(body, format, sender);
      return "issues" in result ? result : { ...result, bytes };
    },
  };
}
