import type { BodyReader } from "@pragma/runtime/define-route";
import { maxBodyBytes } from "@pragma/runtime/receiving-budget";
import type { z } from "zod";
import type { FormatOf, WantedFormat } from "./till-facts.ts";
import type { TillIngest } from "./till-ingest.ts";
import type { ReceivedTill } from "./till-reader.ts";

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
