import { FetchedLegacyTills, WantedLegacyTills } from "@pragma/contracts/legacy-till";
import { jsonBody } from "@pragma/runtime/define-route";
import { json } from "@pragma/runtime/reply";
import { z } from "zod";
import { applicationQuery, askedBackoffice } from "../legacy/asked-backoffice.ts";
import { fetchLegacyTills } from "../legacy/fetch-legacy-tills.ts";
import { listLegacyTills } from "../legacy/list-legacy-tills.ts";
import { defineRoute } from "../till-ingest.ts";

/** The list of what is wanted, or nothing. */
const wantedTills = jsonBody(WantedLegacyTills.optional());

export const fetchLegacyTillsRoute = defineRoute({
  method: "post",
  path: "/v1/tills/legacy/",
  operationId: "fetchLegacyTills",
  tag: "Tills",
  audience: "public",
  scope: "tills:write",
  summary: "Fetch tills from a legacy backoffice",
  description:
    "Fetches the tills of the body, or without a body every till that the list has, and accepts each as if it had been pushed. " +
    "The reply says of every till whether it is here, and if not why; those that were here already are. " +
    "One call takes half a minute at most, and what was not done by then is said too: the same call again brings the rest.",
  request: { query: applicationQuery, body: wantedTills },
  responses: {
    200: {
      description: "What became of each till, by location",
      schema: z.array(FetchedLegacyTills),
      example: [
        {
          locationId: "7d4cbb0c-7b0c-4b9e-a9cb-4a4a0be3c2f5",
          success: [4711, 4712],
          errors: [{ message: "The backoffice answered 500.", serverId: 4713 }],
        },
      ],
    },
  },
  // Each till is accepted in a transaction of its own, and once.
  isRepeatable: true,
  errors: ["location_forbidden", "legacy_not_configured", "legacy_unavailable"],
  async handle({ body, query, principal, services, context, signal }) {
    const wanted =
      body ?? (await listLegacyTills(services.legacy, { ...askedBackoffice(principal, query.application), signal }));
    const fetched = await fetchLegacyTills(services, { wanted, principal, signal, context });
    context.addToLog({ wanted: wanted.length, fetched: fetched.reduce((sum, { success }) => sum + success.length, 0) });
    return json(200, fetched);
  },
});
