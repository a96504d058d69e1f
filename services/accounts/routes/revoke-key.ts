import { z } from "zod";
import { defineRoute } from "../accounts.ts";
import { revokeKey } from "../revoke-key.ts";

export const revokeKeyRoute = defineRoute({
  method: "delete",
  path: "/v1/auth/keys/{id}",
  operationId: "revokeApiKey",
  tag: "Keys",
  audience: "operator",
  scope: "keys:write",
  summary: "Revoke an API key",
  description:
    "Revokes a key for good: requests with it are refused within a second. It stays in the list, as revoked. Revoking it again changes nothing. A key without locations:any revokes those of its own location only, and the keys of an admin are revoked by an admin only.",
  request: { params: z.object({ id: z.guid().meta({ description: "Id of the key, as the list of keys tells it" }) }) },
  responses: { 204: { description: "The key is revoked" } },
  errors: ["key_not_found"],
  async handle({ params, principal, services, context }) {
    await revokeKey(services, { id: params.id, principal, context });
    return { status: 204, body: null, headers: {} };
  },
});
