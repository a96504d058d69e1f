import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import { UpsertWebhook, Webhook } from "@pragma/contracts/webhook";
import { type BodyReader, jsonBody } from "@pragma/runtime/define-route";
import { refuseFaults } from "@pragma/runtime/faults";
import { namedLocation } from "@pragma/runtime/locations";
import { json } from "@pragma/runtime/reply";
import { faultOfEndpoint } from "../endpoint/check-endpoint.ts";
import { limitReached } from "../location-limit.ts";
import { lockLocation } from "../queries/recipients.ts";
import { isWebhook, type WebhookRow, webhookColumns } from "../queries/webhooks.ts";
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
    await lockLocation(tx, db, locationId);
    // It stays until the transaction ends.
    const [recipient] = await tx`
      select from recipients where id = ${recipientId} and location_id = ${locationId} for key share`;
    if (!recipient) {
      const message = "must be the id of a recipient of the location";
      refuseFaults([{ in: "body", path: "recipientId", code: "unknown_recipient", message }]);
    }
    const now = clock();
    const content = { recipientId, endpointUrl, events: [...events], updatedAt: now };
    const unchanging = { id, locationId, state: "active", revision: 1, createdAt: now };
    const [inserted] = await tx<WebhookRow[]>`
      insert into webhooks ${tx({ ...content, ...unchanging })} on conflict (id) do nothing
      returning ${webhookColumns(tx)}`;
    if (inserted) {
      const max = config.WEBHOOKS_PER_LOCATION;
      const isListed = tx`location_id = ${locationId} and state <> 'deleted'`;
      const { count } = await tx`select from webhooks where ${isListed} limit ${max + 1}`;
      if (count > max) throw limitReached("webhooks", max);
      return { webhook: inserted, isNew: true };
    }
    // Of another endpoint it is not known whether it fails.
    const [updated] = await tx<WebhookRow[]>`
      update webhooks set
        ${tx(content)}, revision = revision + 1,
        failing_since = case when endpoint_url = ${endpointUrl} then failing_since end,
        last_error = case when endpoint_url = ${endpointUrl} then last_error end,
        warned_at = case when endpoint_url = ${endpointUrl} then warned_at end
      where ${isWebhook(tx, { id, locationId })}
      returning ${webhookColumns(tx)}`;
    if (updated) return { webhook: updated, isNew: false };
    // The id is of another location's webhook, or of one that is being removed.
    throw new ApiError("webhook_conflict", { detail: "Choose another id, or leave it out to be given one." });
  });
}
