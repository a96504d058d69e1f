import { Webhook } from "@pragma/contracts/webhook";
import { namedLocation } from "@pragma/runtime/locations";
import { json } from "@pragma/runtime/reply";
import { upsertWebhook } from "../upsert-webhook.ts";
import { defineRoute } from "../webhooks.ts";
import { webhookBody } from "./webhook-body.ts";

export const upsertWebhookRoute = defineRoute({
  method: "post",
  path: "/v1/webhooks/",
  operationId: "upsertWebhook",
  tag: "Webhooks",
  audience: "public",
  scope: "webhooks:write",
  summary: "Make or change a webhook",
  description:
    "Has events of a location posted to an endpoint, signed with the recipient's secret; or changes the webhook of this id in the same location, which stays active, paused or disabled as it is. The endpoint has to be an https address (http where the operator allows it) whose host has public addresses only, on port 80, 443, or 1024 and above, without user and password. It is answered for with a 2xx within 15 seconds; redirects are not followed. What fails is tried ten times over about three days. An endpoint that answers 410 is disabled at once, and one that has nothing but failures for five days, too.",
  request: { body: webhookBody },
  responses: {
    200: { description: "The webhook as it was changed", schema: Webhook },
    201: { description: "The webhook as it was made", schema: Webhook },
  },
  errors: ["webhook_conflict", "limit_reached", "location_forbidden", "location_not_found"],
  async handle({ body, principal, services, context }) {
    const { id: locationId } = await namedLocation(principal, body.locationId, services.locations, context);
    const { webhook, isNew } = await upsertWebhook(services, { locationId, webhook: body });
    return json(isNew ? 201 : 200, webhook);
  },
});
