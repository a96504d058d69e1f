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

interface StatisticsRow {
  pending: number;
  succeeded: number;
  failed: number;
  milliseconds: number;
  lastSucceededAt: Date | null;
  lastFailedAt: Date | null;
}

/** How a webhook's deliveries go. */
async function findStatistics(sql: Sql, webhookId: string, now: Date) {
  const isLastDay = sql`hour > ${now}::timestamptz - interval '24 hours'`;
  const [row] = await sql<[StatisticsRow]>`
    select
      (
        select count(*) from (
          select from deliveries where webhook_id = ${webhookId} and state = 'pending' limit ${maxCounted}
        ) counted
      ) as pending,
      coalesce(sum(succeeded) filter (where ${isLastDay}), 0)::bigint as succeeded,
      coalesce(sum(failed) filter (where ${isLastDay}), 0)::bigint as failed,
      coalesce(sum(milliseconds) filter (where ${isLastDay}), 0)::bigint as milliseconds,
      max(last_succeeded_at) as "lastSucceededAt", max(last_failed_at) as "lastFailedAt"
    from webhook_hours where webhook_id = ${webhookId}`;
  const { pending, succeeded, failed, milliseconds, lastSucceededAt, lastFailedAt } = row;
  const attempts = succeeded + failed;
  const averageMilliseconds = attempts === 0 ? null : Math.round(milliseconds / attempts);
  return { pending, lastDay: { succeeded, failed, averageMilliseconds }, lastSucceededAt, lastFailedAt };
}
