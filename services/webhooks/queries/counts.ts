import type { Sql } from "@pragma/runtime/postgres";

/** No more than this many are counted of each. */
const most = 100_000;

/** Deliveries of active webhooks that are due, those that wait for their next attempt, and those under way. */
export async function countUnsettled(sql: Sql, now: Date): Promise<{ due: number; waiting: number; sending: number }> {
  const pending = sql`
    select 1 from webhooks w join deliveries d on d.webhook_id = w.id where w.state = 'active' and d.state = 'pending'`;
  const [row] = await sql<[{ due: number; waiting: number; sending: number }]>`
    select
      (select count(*) from (${pending} and d.due_at <= ${now} limit ${most}) due) as due,
      (select count(*) from (${pending} and d.due_at > ${now} limit ${most}) waiting) as waiting,
      (select count(*) from (select 1 from deliveries where state = 'sending' limit ${most}) sending) as sending`;
  return row;
}

export async function countWebhooks(sql: Sql): Promise<{ state: string; count: number }[]> {
  return sql<{ state: string; count: number }[]>`
    select state, count(*) from webhooks where state <> 'deleted' group by state`;
}
