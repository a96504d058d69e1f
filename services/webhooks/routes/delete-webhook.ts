import { ApiError } from "@pragma/contracts/errors";
import { removeDeleted } from "../periodic/remove-old.ts";
import { isWebhook } from "../queries/webhooks.ts";
import { defineRoute } from "../webhooks.ts";
import { readable, webhookParams } from "./params.ts";

/** Deliveries that are removed at once; more than these are left to the next turn of the periodic task. */
const maxAtOnce = 5_000;

export const deleteWebhookRoute = defineRoute({
  method: "delete",
  path: "/v1/webhooks/{id}",
  operationId: "deleteWebhook",
  summary: "Delete a webhook",
  description:
    "Deletes a webhook with the log of its deliveries. Nothing is sent any more, not even what was due. Pause it instead to have that sent later.",
  request: { params: webhookParams },
  responses: { 204: { description: "The webhook is deleted" } },
  errors: ["webhook_not_found"],
  async handle({ params, principal, services: { db, clock } }) {
    const which = readable(params, principal);
    // Out of sight; what is left of it is removed in portions.
    const marked = await db.transaction(
      (tx) => tx`
        update webhooks set state = 'deleted', disabled_reason = null, revision = revision + 1, updated_at = ${clock()}
        where ${isWebhook(tx, which)}`,
    );
    if (marked.count === 0) throw new ApiError("webhook_not_found");
    await removeDeleted(db.sql, { max: maxAtOnce });
    return { status: 204, body: null, headers: {} };
  },
});
