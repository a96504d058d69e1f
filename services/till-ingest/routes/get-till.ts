import { Till } from "@pragma/contracts/till";
import { taggedByContent } from "@pragma/runtime/reply";
import { knownTill } from "../known-till.ts";
import { defineRoute } from "../till-ingest.ts";
import { tillReply } from "../till-reply.ts";
import { tillParams } from "./till-params.ts";

export const getTill = defineRoute({
  method: "get",
  path: "/v1/tills/{id}",
  operationId: "getTill",
  tag: "Tills",
  audience: "public",
  scope: "tills:read",
  summary: "Get a till",
  description:
    "Whose the till is, when it came in, and where its body is read. Pushed as V1 or V2 makes no difference.",
  request: { params: tillParams },
  responses: { 200: { description: "The till", schema: Till }, 304: { description: "The client has it already" } },
  errors: ["till_not_found"],
  async handle({ params, principal, services, origin, header }) {
    const till = await knownTill(services, { id: params.id, principal });
    return taggedByContent(JSON.stringify(tillReply(till, origin)), { ifNoneMatch: header("if-none-match") });
  },
});
