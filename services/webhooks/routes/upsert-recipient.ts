import { RecipientWithSecret, UpsertRecipient } from "@pragma/contracts/recipient";
import { jsonBody } from "@pragma/runtime/define-route";
import { namedLocation } from "@pragma/runtime/locations";
import { json } from "@pragma/runtime/reply";
import { upsertRecipient } from "../upsert-recipient.ts";
import { defineRoute } from "../webhooks.ts";
import { recipientReply } from "./recipient-reply.ts";

export const upsertRecipientRoute = defineRoute({
  method: "post",
  path: "/v1/recipients/",
  operationId: "upsertRecipient",
  tag: "Webhooks",
  audience: "public",
  scope: "webhooks:write",
  summary: "Make or change a recipient",
  description:
    "Makes a recipient of webhooks, or changes the one of this id in the same location. A new one that is given no hmacSecret gets one that is made for it: it is shown in this reply, and never again. Another hmacSecret for a recipient that has one takes its place as a rotation does.",
  request: { body: jsonBody(UpsertRecipient) },
  responses: {
    200: { description: "The recipient as it was changed", schema: RecipientWithSecret },
    201: { description: "The recipient as it was made", schema: RecipientWithSecret },
  },
  errors: ["recipient_conflict", "limit_reached", "too_many_secrets", "location_forbidden", "location_not_found"],
  async handle({ body, principal, services, context }) {
    const { id: locationId } = await namedLocation(principal, body.locationId, services.locations, context);
    const { recipient, isNew, madeSecret } = await upsertRecipient(services, { locationId, recipient: body });
    return json(isNew ? 201 : 200, recipientReply(recipient, madeSecret), { "cache-control": "no-store" });
  },
});
