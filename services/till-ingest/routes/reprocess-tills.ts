import { randomUUID } from "node:crypto";
import { integerInQuery } from "@pragma/contracts/pagination";
import { Reprocessing } from "@pragma/contracts/reprocessing";
import { allows } from "@pragma/contracts/scopes";
import { ownLocation } from "@pragma/runtime/own-location";
import { json } from "@pragma/runtime/reply";
import { z } from "zod";
import { insertReprocessing } from "../queries/reprocessings.ts";
import { reprocessingReply } from "../reprocessing-reply.ts";
import { defineRoute } from "../till-ingest.ts";

/** No version is higher than the database has numbers for it. */
const highestVersion = 2 ** 31 - 1;

const query = z.object({
  lteReportVersion: integerInQuery(z.int().min(0)).meta({
    description:
      "Tills whose report was made by this version of the calculation or a lower one; 0: those that have none",
    type: "integer",
    minimum: 0,
    example: 1,
  }),
  locationId: z.guid().optional().meta({
    description: "The location of the key. A key that may act for any, and names none, means the tills of all",
  }),
});

export const reprocessTills = defineRoute({
  method: "post",
  path: "/v1/tills/reprocess",
  operationId: "reprocessTills",
  tag: "Tills",
  audience: "public",
  scope: "tills:write",
  summary: "Reprocess many tills",
  description:
    "Has the reports made again that an older version of the calculation made, beside everything else. " +
    "Ask for the reprocessing by its id to see how far it is.",
  request: { query },
  responses: { 202: { description: "The tills will be processed again", schema: Reprocessing } },
  errors: ["location_forbidden"],
  async handle({ query: { lteReportVersion, locationId }, principal, services: { db } }) {
    const isForAll = locationId === undefined && allows(principal.scopes, "locations:any");
    const row = {
      id: randomUUID(),
      location_id: isForAll ? null : ownLocation(principal, locationId),
      lte_report_version: Math.min(lteReportVersion, highestVersion),
      key_id: principal.keyId,
      consumer: principal.consumer,
    };
    const reprocessing = await db.transaction((tx) => insertReprocessing(tx, row));
    return json(202, reprocessingReply(reprocessing), { location: `/v1/tills/reprocess/${reprocessing.id}` });
  },
});
