import { serviceNames } from "@pragma/contracts/service-names";
import { schemaOf } from "@pragma/runtime/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { TestEnvironment } from "@pragma/runtime/testing/test-environment";
import postgres from "postgres";
import { expect } from "vitest";

/** Looks behind the API: every event was sent, nothing is parked, and what is counted is what is there. */
export async function expectConsistency({ namespace, variables }: TestEnvironment): Promise<void> {
  const sql = postgres(variables.DATABASE_URL ?? "", { max: 1, onnotice: () => {} });
  try {
    for (const service of serviceNames) {
      const schema = sql(schemaOf(namespace, service));
      await eventually(
        `the outbox of ${service} to be empty`,
        async () => (await sql`select 1 from ${schema}.outbox`).length === 0,
        { withinSeconds: 60 },
      );
      expect(await sql`select subscription, reason from ${schema}.parked_messages`).toEqual([]);
    }
    expect(await miscounted(sql, schemaOf(namespace, "reporting"))).toEqual([]);
  } finally {
    await sql.end();
  }
}

/** Stretches whose count is another than that of the records in them, and days with records that are in none. */
async function miscounted(sql: postgres.Sql, schema: string): Promise<object[]> {
  const stretches = sql`${sql(schema)}.stretches`;
  return sql`
    with record as (
      select location_id, 'report' as kind, day, started_at as at, id from ${sql(schema)}.reports
      union all
      select location_id, 'order', day, opened_at, id from ${sql(schema)}.orders where is_current
    ), placed as (
      select record.*, stretch.start_at, stretch.start_id from record left join lateral (
        select start_at, start_id from ${stretches} as stretch
        where stretch.location_id = record.location_id and stretch.kind = record.kind and stretch.day = record.day
          and (stretch.start_at, stretch.start_id) <= (record.at, record.id)
        order by start_at desc, start_id desc limit 1
      ) as stretch on true
    ), recount as (
      select location_id, kind, day, start_at, start_id, count(*)::int as counted from placed group by 1, 2, 3, 4, 5
    )
    select kind, day::text as day, stretch.count, coalesce(recount.counted, 0) as counted
    from ${stretches} as stretch full join recount using (location_id, kind, day, start_at, start_id)
    where stretch.count is distinct from coalesce(recount.counted, 0)`;
}
