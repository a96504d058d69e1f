import { WebhookDetails } from "@pragma/contracts/webhook";
import { taggedByContent } from "@pragma/runtime/reply";
import { defineRoute } from "../webhooks.ts";
import { readableWebhook, webhookParams } from "./params.ts";

/** No more pending deliveries than this are counted. */
const maxCounted = 10_000;

export const getWebhookRoute = defineRoute({
  method: "get",
  path: "/v1/webhooks/{id}",
  operationId: "getWebhook",
  summary: "Get a webhook",
  description: "A webhook, with how its deliveries go.",
  request: { params: webhookParams },
  responses: {
    200: { description: "The webhook", schema: WebhookDetails },
    304: { description: "The client has it already" },
  },
  errors: ["webhook_not_found"],
  async handle({ params, principal, services, header }) {
    const webhook = await readableWebhook(services, params, principal);
    const { db, clock } = services;
    const [statistics] = await db.sql`
      select
        (
          select count(*) from (
            select from deliveries where webhook_id = ${webhook.id} and state = 'pending' limit ${maxCounted}
          ) counted
        ) as pending,
        (
          select json_build_object(
            'succeeded', coalesce(sum(succeeded), 0), 'failed', coalesce(sum(failed), 0),
            'averageMilliseconds', round(sum(milliseconds) / nullif(sum(succeeded + failed), 0))
          ) from webhook_hours
          where webhook_id = ${webhook.id} and hour > ${clock()}::timestamptz - interval '24 hours'
        ) as last_day,
        max(last_succeeded_at) as last_succeeded_at, max(last_failed_at) as last_failed_at
      from webhook_hours where webhook_id = ${webhook.id}`;
    return taggedByContent(JSON.stringify({ ...webhook, statistics }), { ifNoneMatch: header("if-none-match") });
  },
});
