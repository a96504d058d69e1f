import { ReprocessedTill } from "@pragma/contracts/till";
import { readableLocation } from "@pragma/runtime/own-location";
import { json } from "@pragma/runtime/reply";
import { reprocessTill } from "../reprocess-till.ts";
import { defineRoute } from "../till-ingest.ts";
import { tillReply } from "../till-reply.ts";
import { tillParams } from "./till-params.ts";

export const reprocessTillRoute = defineRoute({
  method: "post",
  path: "/v1/tills/{id}/reprocess",
  operationId: "reprocessTill",
  tag: "Tills",
  audience: "public",
  scope: "tills:write",
  summary: "Reprocess a till",
  description:
    "Has the report and orders of a till made again from the body that it has. While an earlier reprocessing of the till " +
    "is waiting, another request starts no second one and gets the same reply.",
  request: { params: tillParams },
  responses: { 200: { description: "The till is processed again", schema: ReprocessedTill } },
  errors: ["till_not_found", "quota_exceeded"],
  async handle({ params, principal, services, context, origin }) {
    const till = await reprocessTill(services, {
      id: params.id,
      locationId: readableLocation(principal),
      by: principal,
      context,
    });
    return json(200, { id: till.id, objectUrl: tillReply(till, origin).objectUrl });
  },
});
