import { tillV2Example } from "@pragma/contracts/examples/till-v2";
import { tagged, unchanged } from "@pragma/runtime/reply";
import { z } from "zod";
import { defineRoute } from "../till-ingest.ts";
import { knownTill } from "../till-location.ts";
import { tillParams } from "./tills.ts";

export const getTillObject = defineRoute({
  method: "get",
  path: "/v1/tills/{id}/object",
  operationId: "getTillObject",
  tag: "Tills",
  audience: "public",
  scope: "tills:read",
  summary: "Get the body of a till",
  description: "The exact bytes that were pushed last for this till, after inflating. The entity tag is their SHA-256.",
  request: { params: tillParams },
  responses: {
    200: {
      description: "The body, in the format that it was pushed in",
      schema: z.record(z.string(), z.unknown()).meta({ description: "A till as it was pushed: V1 or V2" }),
      example: tillV2Example,
    },
    304: { description: "The client has it already" },
  },
  errors: ["till_not_found"],
  async handle({ params, principal, services, header }) {
    const till = await knownTill(services, { id: params.id, principal });
    const tag = { etag: till.hash, ifNoneMatch: header("if-none-match") };
    const already = unchanged(tag);
    if (already) return already;
    const { body, size } = await services.objects.stream(till.objectKey);
    return tagged(body, tag, { "content-type": "application/json", "content-length": String(size) });
  },
});
