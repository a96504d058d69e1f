import { ApiError } from "@pragma/contracts/errors";
import { tillV2Example } from "@pragma/contracts/examples/till-v2";
import { ReplacedTill } from "@pragma/contracts/till";
import { TillV1 } from "@pragma/contracts/till-v1";
import { TillV2 } from "@pragma/contracts/till-v2";
import { json } from "@pragma/runtime/reply";
import { z } from "zod";
import { replaceTill } from "../replace-till.ts";
import { tillBody } from "../till-body.ts";
import { defineRoute } from "../till-ingest.ts";
import { replacedLocation } from "../till-location.ts";
import { tillReply } from "../till-reply.ts";
import { tillParams } from "./till-params.ts";

export const replaceTillRoute = defineRoute({
  method: "put",
  path: "/v1/tills/{id}",
  operationId: "replaceTill",
  tag: "Tills",
  audience: "public",
  scope: "tills:write",
  summary: "Replace a till",
  description:
    "Puts another body, in either format, in the place of a till's. Its report is made again and keeps its id; orders " +
    "that the new body does not have are gone. Earlier bodies are kept. The same bytes again change nothing.",
  request: { params: tillParams, body: { ...tillBody("either", z.union([TillV2, TillV1])), example: tillV2Example } },
  responses: { 200: { description: "The till was replaced", schema: ReplacedTill } },
  errors: ["till_not_found", "location_forbidden", "location_not_found", "quota_exceeded"],
  async handle({ params, body: till, principal, services, context, origin }) {
    const id = params.id.toLowerCase();
    if (till.facts.tillId !== id) {
      const message = `must be the id of the address, ${id}; got ${till.facts.tillId}`;
      const path = till.facts.format === "V1" ? "tillJson.client_id" : "id";
      throw new ApiError("invalid_request", { faults: [{ in: "body", path, code: "mismatch", message }] });
    }
    const location = await replacedLocation(principal, till.facts, services, context);
    const replaced = await replaceTill(services, { location, till, principal, context });
    return json(200, { tillId: replaced.id, objectUrl: tillReply(replaced, origin).objectUrl });
  },
});
