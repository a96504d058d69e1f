import { maxRequestBodyBytes } from "@pragma/runtime/admission/request-body-memory";
import type { RequestBodyParser } from "@pragma/runtime/http/define-route";
import type { z } from "zod";
import type { TillIngestServiceContext } from "../context.ts";
import type { AcceptedTillBodyFormat, PossibleTillBodyFormat } from "../validation/parse-till-body.ts";
import type { TillMetadataWithBodyBytes } from "../validation/till-body-reader.ts";

/** Returns a parser of till bodies. Large bodies are parsed in worker threads, so that other requests do not wait. */
export function createTillRequestBodyParser<Requested extends AcceptedTillBodyFormat>(
  format: Requested,
  schema: z.ZodType,
): RequestBodyParser<TillMetadataWithBodyBytes<PossibleTillBodyFormat<Requested>>, TillIngestServiceContext> {
  return {
    schema,
    maxBytes: maxRequestBodyBytes,
    async parse(bytes, { reader }, sender) {
      const till = await reader.read(bytes, format, sender);
      return "issues" in till ? till : { value: till };
    },
  };
}
