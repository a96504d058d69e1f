import { ApiError } from "@pragma/contracts/errors";
import { RecoverWebhookDeliveries, WebhookDeliveryRecovery } from "@pragma/contracts/webhook-delivery";
import { runAfterCommit } from "@pragma/runtime/database/postgres";
import { jsonBodyParser } from "@pragma/runtime/http/define-route";
import { conditionalJsonResponseByContent, jsonResponse } from "@pragma/runtime/http/route-response";
import { z } from "zod";
import { defineWebhooksRoute } from "../context.ts";
import { type RecoveryRow, recoveryColumns, startRecovery } from "../queries/recoveries.ts";
import { requireReadableWebhook, webhookParams } from "./params.ts";

export const recoverDeliveriesRoute = defineWebhooksRoute({
  method: "post",
  path: "/v1/webhooks/{id}/recover",
  operationId: "recoverDeliveries",
  summary: "Make again what failed",
  description:
    "Makes again every delivery of events since a time that failed for good, or failed and waits for another attempt; test messages are left out. It takes its time in the background: get the recovery to see how far it is. Asked for again before it is done, it begins again, since the earlier of both times. The messages have the same ids as before.",
  request: { params: webhookParams, body: jsonBodyParser(RecoverWebhookDeliveries) },
  responses: { 202: { description: "The recovery, which has begun", schema: WebhookDeliveryRecovery } },
  errors: ["webhook_not_found"],
  async handle({ params, body, principal, services }) {
    const { id: webhookId } = await requireReadableWebhook(services, params, principal);
    const { db, clock, deliveryWorker } = services;
    const recovery = await db.transaction(async (tx) => {
      runAfterCommit(tx, () => deliveryWorker.recoveryLoop.poll());
      return startRecovery(tx, { webhookId, since: body.since, now: clock() });
    });
    return jsonResponse(202, recovery);
  },
});

export const getRecoveryRoute = defineWebhooksRoute({
  method: "get",
  path: "/v1/webhooks/{id}/recoveries/{recoveryId}",
  operationId: "getRecovery",
  summary: "Get a recovery",
  description: "How far a recovery is.",
  request: {
    params: z.object({ ...webhookParams.shape, recoveryId: z.guid().meta({ description: "Id of the recovery" }) }),
  },
  responses: {
    200: { description: "The recovery", schema: WebhookDeliveryRecovery },
    304: { description: "The client has it already" },
  },
  errors: ["webhook_not_found", "recovery_not_found"],
  async handle({ params, principal, services, header }) {
    const webhook = await requireReadableWebhook(services, params, principal);
    const { sql } = services.db;
    const [recovery] = await sql<RecoveryRow[]>`
      select ${recoveryColumns(sql)} from recoveries where id = ${params.recoveryId} and webhook_id = ${webhook.id}`;
    if (!recovery) throw new ApiError("recovery_not_found");
    return conditionalJsonResponseByContent(JSON.stringify(recovery), { ifNoneMatch: header("if-none-match") });
  },
});
