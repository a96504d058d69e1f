import { RecoverDeliveries, Recovery } from "@pragma/contracts/delivery";
import { ApiError } from "@pragma/contracts/errors";
import { jsonBody } from "@pragma/runtime/define-route";
import { afterCommit } from "@pragma/runtime/postgres";
import { json, taggedByContent } from "@pragma/runtime/reply";
import { z } from "zod";
import { insertRecovery, type RecoveryRow, recoveryColumns } from "../queries/recoveries.ts";
import { defineRoute } from "../webhooks.ts";
import { readableWebhook, webhookParams } from "./params.ts";

export const recoverDeliveriesRoute = defineRoute({
  method: "post",
  path: "/v1/webhooks/{id}/recover",
  operationId: "recoverDeliveries",
  summary: "Make again what failed",
  description:
    "Makes again every delivery of events since a time that failed for good, or failed and waits for another attempt. It takes its time in the background: get the recovery to see how far it is. Asked for again before it is done, it begins again, since the earlier of both times. The messages have the same ids as before.",
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

export const getRecoveryRoute = defineRoute({
  method: "get",
  path: "/v1/webhooks/{id}/recoveries/{recoveryId}",
  operationId: "getRecovery",
  summary: "Get a recovery",
  description: "How far a recovery is.",
  request: {
    params: z.object({ ...webhookParams.shape, recoveryId: z.guid().meta({ description: "Id of the recovery" }) }),
  },
  responses: {
    200: { description: "The recovery", schema: Recovery },
    304: { description: "The client has it already" },
  },
  errors: ["webhook_not_found", "recovery_not_found"],
  async handle({ params, principal, services, header }) {
    const webhook = await readableWebhook(services, params, principal);
    const { sql } = services.db;
    const [recovery] = await sql<RecoveryRow[]>`
      select ${recoveryColumns(sql)} from recoveries where id = ${params.recoveryId} and webhook_id = ${webhook.id}`;
    if (!recovery) throw new ApiError("recovery_not_found");
    return taggedByContent(JSON.stringify(recovery), { ifNoneMatch: header("if-none-match") });
  },
});
