import { LegacyTill } from "@pragma/contracts/legacy-till";
import { json } from "@pragma/runtime/reply";
import { z } from "zod";
import { applicationQuery, askedBackoffice } from "../legacy/asked-backoffice.ts";
import { listLegacyTills } from "../legacy/list-legacy-tills.ts";
import { defineRoute } from "../till-ingest.ts";

export const listLegacyTillsRoute = defineRoute({
  method: "get",
  path: "/v1/tills/legacy/",
  operationId: "listLegacyTills",
  tag: "Tills",
  audience: "public",
  scope: "tills:write",
  summary: "List the tills of a legacy backoffice",
  description:
    "Every till that the legacy backoffice of an application has of the key's location; of all locations for a key that may act for any. " +
    "Whether they are here already is not told: fetching them again changes nothing.",
  request: { query: applicationQuery },
  responses: {
    200: {
      description: "The tills, in the order of the backoffice",
      schema: z.array(LegacyTill),
      example: [{ application: "POPINA", serverId: 4711, legacyId: 42 }],
    },
  },
  errors: ["location_forbidden", "legacy_not_configured", "legacy_unavailable"],
  async handle({ query, principal, services, signal }) {
    const asked = askedBackoffice(principal, query.application);
    return json(200, await listLegacyTills(services.legacy, { ...asked, signal }));
  },
});
