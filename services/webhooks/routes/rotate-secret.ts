import { RecipientWithSecret, RotateSecret } from "@pragma/contracts/recipient";
import { jsonBody } from "@pragma/runtime/define-route";
import { readableLocation } from "@pragma/runtime/own-location";
import { json } from "@pragma/runtime/reply";
import { rotateSecret } from "../rotate-secret.ts";
import { defineRoute } from "../webhooks.ts";
import { recipientParams } from "./params.ts";
import { recipientReply } from "./recipient-reply.ts";

export const rotateSecretRoute = defineRoute({
  method: "post",
  path: "/v1/recipients/{id}/rotate",
  operationId: "rotateRecipientSecret",
  tag: "Webhooks",
  audience: "public",
  scope: "webhooks:write",
  summary: "Rotate a recipient's secret",
  description:
    "Gives the recipient another secret: the one in the body, or one that is made and shown in this reply, and never again. For 24 hours messages are signed with both: webhook-signature carries a signature for each, and x-popina-hmac-signature stays under the secret of before. Say isLeaked to end the secrets of before at once.",
  request: { params: recipientParams, body: jsonBody(RotateSecret) },
  responses: { 200: { description: "The recipient", schema: RecipientWithSecret } },
  errors: ["recipient_not_found", "too_many_secrets"],
  async handle({ params, body, principal, services }) {
    const which = { id: params.id, locationId: readableLocation(principal) };
    const { recipient, madeSecret } = await rotateSecret(services, { ...which, rotation: body });
    return json(200, recipientReply(recipient, madeSecret), { "cache-control": "no-store" });
  },
});
