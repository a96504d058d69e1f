import { RecoverDeliveries, Recovery } from "@pragma/contracts/delivery";
import { jsonBody } from "@pragma/runtime/define-route";
import { afterCommit } from "@pragma/runtime/postgres";
import { json } from "@pragma/runtime/reply";
import { insertRecovery } from "../queries/recoveries.ts";
import { defineRoute } from "../webhooks.ts";
import { readableWebhook, webhookParams } from "./params.ts";

export const recoverDeliveriesRoute = defineRoute({
  method: "post",
  path: "/v1/webhooks/{id}/recover",
  operationId: "recoverDeliveries",
  summary: "Make again what failed",
  description:
    "Makes again every delivery of events since a time that failed for good, or failed and waits for another attempt. It takes its time in the background: get the recovery to see how far it is. The messages have the same ids as before.",
  request: { params: webhookParams, body: jsonBody(RecoverDeliveries) },
  responses: { 202: { description: "The recovery, which has begun", schema: Recovery } },
  errors: ["webhook_not_found"],
  async handle({ params, body, principal, services }) {
    const { id: webhookId } = await readableWebhook(services, params, principal);
    const { db, clock, delivering } = services;
    const recovery = await db.transaction(async (tx) => {
      afterCommit(tx, () => delivering.recoveries.wake());
      return insertRecovery(tx, { webhookId, since: body.since, now: clock() });
    });
    return json(202, recovery);
  },
});
