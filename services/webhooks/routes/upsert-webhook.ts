import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import { UpsertWebhook, Webhook } from "@pragma/contracts/webhook";
import { type BodyReader, jsonBody } from "@pragma/runtime/define-route";
import { refuseFaults } from "@pragma/runtime/faults";
import { namedLocation } from "@pragma/runtime/locations";
import { json } from "@pragma/runtime/reply";
import { faultOfEndpoint } from "../endpoint/check-endpoint.ts";
import { limitReached } from "../location-limit.ts";
import { keepRecipient, lockLocation } from "../queries/recipients.ts";
import { countWebhooks, insertWebhook, updateWebhook } from "../queries/webhooks.ts";
import { defineRoute, type Webhooks } from "../webhooks.ts";

const asJson = jsonBody(UpsertWebhook);

/** The body of a webhook whose endpoint is one that may be sent to. */
const webhookBody: BodyReader<UpsertWebhook, Webhooks> = {
  ...asJson,
  async read(bytes, services, sender) {
    const read = await asJson.read(bytes, services, sender);
    if ("faults" in read) return read;
    const fault = await faultOfEndpoint(read.value.endpointUrl, services.endpoints);
    return fault ? { faults: [{ in: "body", path: "endpointUrl", ...fault }], count: 1 } : read;
  },
};

export const upsertWebhookRoute = defineRoute({
  method: "post",
  path: "/v1/webhooks/",
  operationId: "upsertWebhook",
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

/** Creates a webhook, or changes the one of this id; whether that is active, paused or disabled stays as it is. */
async function upsertWebhook(
  { db, clock, config }: Webhooks,
  { locationId, webhook }: { locationId: string; webhook: UpsertWebhook },
) {
  const { recipientId, endpointUrl, events } = webhook;
  const id = webhook.id?.toLowerCase() ?? randomUUID();
  return db.transaction(async (tx) => {
    await lockLocation(tx, { schema: db.schema, locationId });
    if (!(await keepRecipient(tx, { id: recipientId, locationId }))) {
      const message = "must be the id of a recipient of the location";
      refuseFaults([{ in: "body", path: "recipientId", code: "unknown_recipient", message }]);
    }
    const content = { id, locationId, recipientId, endpointUrl, events, now: clock() };
    const inserted = await insertWebhook(tx, content);
    if (inserted) {
      const max = config.WEBHOOKS_PER_LOCATION;
      if ((await countWebhooks(tx, locationId)) > max) throw limitReached("webhooks", max);
      return { webhook: inserted, isNew: true };
    }
    // The id may be of another location's webhook, or of one that is being removed.
    const updated = await updateWebhook(tx, content);
    if (updated) return { webhook: updated, isNew: false };
    throw new ApiError("webhook_conflict", { detail: "Choose another id, or leave it out to be given one." });
  });
}
