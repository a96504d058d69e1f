import type { BodyReader } from "@pragma/runtime/define-route";
import { maxBodyBytes } from "@pragma/runtime/read-body";
import type { z } from "zod";
import type { TillIngest } from "./till-ingest.ts";
import type { ReceivedTill } from "./till-reader.ts";

/** The body of a push: read and checked beside the requests, its bytes kept as they came. */
export function tillBody(schema: z.ZodType, example: unknown): BodyReader<ReceivedTill, TillIngest> {
  return {
    schema,
    example,
    limit: maxBodyBytes,
    async read(bytes, { reader }) {
      const till = await reader.read(bytes);
      return "faults" in till ? till : { value: till };
    },
  };
}
