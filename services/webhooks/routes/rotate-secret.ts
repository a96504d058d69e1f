import { ApiError } from "@pragma/contracts/errors";
import { RecipientWithSecret, RotateSecret } from "@pragma/contracts/recipient";
import { jsonBody } from "@pragma/runtime/define-route";
import { json } from "@pragma/runtime/reply";
import { recipientReply, useSecret } from "../change-secret.ts";
import { lockRecipient, outdateWebhooks } from "../queries/recipients.ts";
import { defineRoute } from "../webhooks.ts";
import { readable, recipientParams } from "./params.ts";

export const rotateSecretRoute = defineRoute({
  method: "post",
  path: "/v1/recipients/{id}/rotate",
  operationId: "rotateRecipientSecret",
  summary: "Rotate a recipient's secret",
  description:
    "Gives the recipient another secret: the one in the body, or one that is made and shown in this reply, and never again. For 24 hours messages are signed with both: webhook-signature carries a signature for each, and x-popina-hmac-signature stays under the secret of before. Say isLeaked to end the secrets of before at once.",
  request: { params: recipientParams, body: jsonBody(RotateSecret) },
  responses: { 200: { description: "The recipient", schema: RecipientWithSecret } },
  errors: ["recipient_not_found", "too_many_secrets"],
  async handle({ params, body, principal, services }) {
    const which = readable(params, principal);
    const now = services.clock();
    const reply = await services.db.transaction(async (tx) => {
      if (!(await lockRecipient(tx, which))) throw new ApiError("recipient_not_found");
      const createdSecret = await useSecret(services, tx, { ...body, recipientId: which.id, now });
      await outdateWebhooks(tx, which.id);
      return recipientReply(tx, { id: which.id, createdSecret, now });
    });
    return json(200, reply, { "cache-control": "no-store" });
  },
});
