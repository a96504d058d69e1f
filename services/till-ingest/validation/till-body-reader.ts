import { createThreadedBodyParser } from "@pragma/runtime/concurrency/threaded-body-parser";
import type { RequestBodyIssues } from "@pragma/runtime/json/body-issues";
import type { AcceptedTillFormat, PossibleTillFormat, TillFormat } from "./parse-till-body.ts";
import { type ParsedTillBody, parseTillBody } from "./parse-till-body.ts";

/** The metadata of a valid till, with its exact bytes. */
export interface ReceivedTill<Format extends TillFormat = TillFormat> extends ParsedTillBody<Format> {
  bytes: Uint8Array;
}

/** Bytes up to which a body is parsed without a thread, because parsing takes at most 2 ms and a thread costs more. */
const maxInlineBytes = 128 * 1024;

/** Creates the reader of till bodies. It uses threads, because large tills would block other requests. */
export function createTillBodyReader(options: { threads: number; heapMegabytes: number }) {
  const reader = createThreadedBodyParser(import.meta.url, "./parse-till-body", parseTillBody, {
    ...options,
    maxInlineBytes,
  });
  return {
    ...reader,
    /** Returns the till with its bytes, or its issues. @throws `ApiError` malformed_json, body_too_large. */
    async read<Requested extends AcceptedTillFormat>(
      body: Uint8Array,
      format: Requested,
      sender: string,
    ): Promise<ReceivedTill<PossibleTillFormat<Requested>> | RequestBodyIssues> {
      const { result, bytes } = await reader.read(body, format, sender);
      return "issues" in result ? result : ({ ...result, bytes } as ReceivedTill<PossibleTillFormat<Requested>>);
    },
  };
}
