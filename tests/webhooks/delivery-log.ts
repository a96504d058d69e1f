import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import type postgres from "postgres";

/** The logged delivery of one message to one webhook. */
export interface LoggedDelivery {
  webhookId: string;
  messageId: string;
  state: string;
  /** The statuses of attempts with a response. */
  statuses: number[];
  /** Number of attempts without a response, which may have arrived. */
  unanswered: number;
}

/** Returns all logged deliveries of paid orders. */
export async function readDeliveryLog(sql: postgres.Sql, namespace: string): Promise<LoggedDelivery[]> {
  const schema = sql(buildServiceSchemaName(namespace, "webhooks"));
  return sql<LoggedDelivery[]>`
    select
      d.webhook_id as "webhookId", d.message_id as "messageId", d.state,
      coalesce(array_agg(a.status order by a.generation, a.number) filter (where a.status is not null), '{}')
        as statuses,
      (count(a.number) filter (where a.status is null))::int as unanswered
    from ${schema}.deliveries d left join ${schema}.attempts a on a.delivery_id = d.id
    where d.event = 'order.paid'
    group by d.id`;
}
