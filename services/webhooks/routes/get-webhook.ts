import { WebhookDetails } from "@pragma/contracts/webhook";
import type { Sql } from "@pragma/runtime/postgres";
import { taggedByContent } from "@pragma/runtime/reply";
import { defineRoute } from "../webhooks.ts";
import { readableWebhook, webhookParams } from "./params.ts";

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
    const statistics = await findStatistics(services.db.sql, webhook.id, services.clock());
    return taggedByContent(JSON.stringify({ ...webhook, statistics }), { ifNoneMatch: header("if-none-match") });
  },
});

const maxCounted = 10_000;

type Statistics = WebhookDetails["statistics"];

/** How a webhook's deliveries go. */
async function findStatistics(sql: Sql, webhookId: string, now: Date): Promise<Statistics> {
  const [[waiting], [day], [ever]] = await Promise.all([
    sql<[{ pending: number }]>`
      select count(*) as pending from (
        select 1 from deliveries where webhook_id = ${webhookId} and state = 'pending' limit ${maxCounted}
      ) counted`,
    sql<[{ succeeded: number; failed: number; milliseconds: number }]>`
      select
        coalesce(sum(succeeded), 0)::bigint as succeeded, coalesce(sum(failed), 0)::bigint as failed,
        coalesce(sum(milliseconds), 0)::bigint as milliseconds
      from webhook_hours
      where webhook_id = ${webhookId} and hour > ${now}::timestamptz - interval '24 hours'`,
    sql<[{ succeededAt: Date | null; failedAt: Date | null }]>`
      select max(last_succeeded_at) as "succeededAt", max(last_failed_at) as "failedAt"
      from webhook_hours where webhook_id = ${webhookId}`,
  ]);
  const { succeeded, failed, milliseconds } = day;
  const attempts = succeeded + failed;
  return {
    pending: waiting.pending,
    lastDay: { succeeded, failed, averageMilliseconds: attempts === 0 ? null : Math.round(milliseconds / attempts) },
    lastSucceededAt: ever.succeededAt?.toISOString() ?? null,
    lastFailedAt: ever.failedAt?.toISOString() ?? null,
  };
}
