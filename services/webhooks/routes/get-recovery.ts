import { Recovery } from "@pragma/contracts/delivery";
import { ApiError } from "@pragma/contracts/errors";
import { taggedByContent } from "@pragma/runtime/reply";
import { z } from "zod";
import { type RecoveryRow, recoveryColumns } from "../queries/recoveries.ts";
import { defineRoute } from "../webhooks.ts";
import { readableWebhook, webhookParams } from "./params.ts";

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
