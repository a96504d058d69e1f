import { CreateApiKey, CreatedApiKey } from "@pragma/contracts/api-key";
import { jsonBody } from "@pragma/runtime/define-route";
import { ownLocation } from "@pragma/runtime/own-location";
import { json } from "@pragma/runtime/reply";
import { defineRoute } from "../accounts.ts";
import { createKey } from "../create-key.ts";

export const createKeyRoute = defineRoute({
  method: "post",
  path: "/v1/auth/keys/",
  operationId: "createApiKey",
  tag: "Keys",
  audience: "operator",
  scope: "keys:write",
  summary: "Create an API key",
  description:
    "Creates a key for a consumer at a location. It is shown this once: only its hash is kept. A key creates keys only for consumers whose scopes and rate limit are no more than its own. Without locations:any it creates keys only at its own location, and finds only the consumers that this location created. With locations:any, consumerName is looked up among the consumers of the operators, then among those of the location.",
  request: {
    body: jsonBody(CreateApiKey, {
      example: { locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11", consumerName: "Acme" },
    }),
  },
  responses: { 201: { description: "The key", schema: CreatedApiKey } },
  errors: ["location_forbidden", "location_not_found", "consumer_not_found", "rate_limit_forbidden"],
  async handle({ body, principal, services, context }) {
    const locationId = ownLocation(principal, body.locationId);
    const apiKey = await createKey(services, { locationId, consumerName: body.consumerName, principal, context });
    return json(201, { apiKey }, { "cache-control": "no-store" });
  },
});
