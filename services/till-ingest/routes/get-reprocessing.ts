import { ApiError } from "@pragma/contracts/errors";
import { Reprocessing } from "@pragma/contracts/reprocessing";
import { readableLocation } from "@pragma/runtime/own-location";
import { json } from "@pragma/runtime/reply";
import { z } from "zod";
import { findReprocessing } from "../queries/reprocessings.ts";
import { reprocessingReply } from "../reprocessing-reply.ts";
import { defineRoute } from "../till-ingest.ts";

export const getReprocessing = defineRoute({
  method: "get",
  path: "/v1/tills/reprocess/{id}",
  operationId: "getReprocessing",
  tag: "Tills",
  audience: "public",
  scope: "tills:write",
  summary: "See how far a reprocessing is",
  description: "How many tills are meant, and how many were handed on to be processed again.",
  request: { params: z.object({ id: z.guid().meta({ description: "Id of the reprocessing" }) }) },
  responses: { 200: { description: "The reprocessing", schema: Reprocessing } },
  errors: ["reprocessing_not_found"],
  async handle({ params, principal, services: { db } }) {
    const locationId = readableLocation(principal);
    const row = await findReprocessing(db.sql, params.id);
    if (!row || (locationId !== null && row.location_id !== locationId)) {
      throw new ApiError("reprocessing_not_found", { detail: `This location has no reprocessing ${params.id}.` });
    }
    return json(200, reprocessingReply(row), { "cache-control": "no-store" });
  },
});
