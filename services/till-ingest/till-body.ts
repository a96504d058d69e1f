import type { BodyReader } from "@pragma/runtime/define-route";
import { maxBodyBytes } from "@pragma/runtime/read-body";
import type { z } from "zod";
import type { TillFormat } from "./till-facts.ts";
import type { TillIngest } from "./till-ingest.ts";
import type { ReceivedTill } from "./till-reader.ts";

/** A till in this format as the body of a request: read and checked beside the requests, its bytes kept as they came. */
export function tillBody<Format extends TillFormat>(
  format: Format,
  schema: z.ZodType,
): BodyReader<ReceivedTill<Format>, TillIngest> {
  return {
    schema,
    limit: maxBodyBytes,
    async read(bytes, { reader }) {
      const till = await reader.read(bytes, format);
      return "faults" in till ? till : { value: till };
    },
  };
}
