import { ApiError } from "@pragma/contracts/errors";
import { RecoverDeliveriesRequest, WebhookDeliveryRecovery } from "@pragma/contracts/webhook-delivery";
import { runAfterCommit } from "@pragma/runtime/database/postgres";
import { createValidatingJsonBodyParser } from "@pragma/runtime/http/define-route";
import { createTaggedJsonResponse, jsonResponse } from "@pragma/runtime/http/route-response";
import { publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import { z } from "zod";
import { defineWebhooksRoute } from "../context.ts";
import {
  type DeliveryRecoveryRow,
  deliveryRecoveryColumns,
  upsertBulkDeliveryRecoveryRow,
} from "../queries/recoveries.ts";
import { requireReadableWebhook, webhookPathParams } from "./params.ts";

export const recoverWebhookDeliveriesRoute = defineWebhooksRoute({
  method: "post",
  path: "/v1/webhooks/{id}/recover",
  operationId: "recoverDeliveries",
  summary: "Retry failed deliveries",
  description:
    "Starts a recovery, which replays the failed deliveries that were created at or after `since`. Deliveries that are waiting for a retry after a failed attempt are also replayed, but test messages are not. The recovery runs in the background. To follow its progress, get the recovery. If the webhook already has an unfinished recovery, that recovery restarts with the earlier of the two `since` times. Replayed messages keep their IDs.",
  request: { params: webhookPathParams, body: createValidatingJsonBodyParser(RecoverDeliveriesRequest) },
  responses: { 202: { description: "The recovery that was started or restarted", schema: WebhookDeliveryRecovery } },
  errors: ["webhook_not_found"],
  async handle({ params, body, principal, services, audit }) {
    const { id: webhookId, locationId } = await requireReadableWebhook(services, params, principal);
    const { db, clock, deliveryWorker } = services;
    const recovery = await db.transaction(async (tx) => {
      runAfterCommit(tx, () => deliveryWorker.recoveryLoop.poll());
      await publishAuditEvent(tx, audit, {
        ...{ action: "deliveries.recovered", locationId, target: { type: "webhook", id: webhookId } },
        details: { since: body.since },
      });
      return upsertBulkDeliveryRecoveryRow(tx, { locationId, webhookId, since: body.since, now: clock() });
    });
    const location = `/v1/webhooks/${webhookId}/recoveries/${recovery.id}`;
    return jsonResponse(202, recovery, { location });
  },
});

export const getRecoveryRoute = defineWebhooksRoute({
  method: "get",
  path: "/v1/webhooks/{id}/recoveries/{recoveryId}",
  operationId: "getRecovery",
  summary: "Get a recovery",
  description: "Returns a recovery: its state, and how many deliveries have been recovered so far.",
  request: {
    params: z.object({ ...webhookPathParams.shape, recoveryId: z.guid().meta({ description: "ID of the recovery" }) }),
  },
  responses: {
    200: { description: "The recovery, with its state and progress", schema: WebhookDeliveryRecovery },
    304: { description: "The client's cached response is current" },
  },
  errors: ["webhook_not_found", "recovery_not_found"],
  async handle({ params, principal, services, header }) {
    const webhook = await requireReadableWebhook(services, params, principal);
    const { sql } = services.db;
    const [recovery] = await sql<DeliveryRecoveryRow[]>`
      select ${deliveryRecoveryColumns(sql)} from delivery_recoveries
      where location_id = ${webhook.locationId} and id = ${params.recoveryId} and webhook_id = ${webhook.id}`;
    if (!recovery) throw new ApiError("recovery_not_found");
    return createTaggedJsonResponse(JSON.stringify(recovery), { ifNoneMatch: header("if-none-match") });
  },
});
