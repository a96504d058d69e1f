import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { TestEnvironment } from "@pragma/runtime/testing/test-environment";
import postgres from "postgres";
import { expect } from "vitest";

/**
 * Checks the databases of the running services: all events are published, there are no dead letters, and the day counts
 * equal the number of records.
 */
export async function expectDatabaseConsistency(
  { namespace, variables }: TestEnvironment,
  services: readonly ServiceName[] = serviceNames,
): Promise<void> {
  const sql = postgres(variables.DATABASE_URL ?? "", { max: 1, onnotice: () => {} });
  try {
    for (const service of services) {
      const schema = sql(buildServiceSchemaName(namespace, service));
      await eventually(
        `the outbox of ${service} to be empty`,
        async () => (await sql`select 1 from ${schema}.outbox`).length === 0,
        { withinSeconds: 60 },
      );
      expect(await sql`select subscription, reason from ${schema}.parked_messages`).toEqual([]);
    }
    expect(await findMiscountedDays(sql, buildServiceSchemaName(namespace, "reporting"))).toEqual([]);
  } finally {
    await sql.end();
  }
}

/** Returns the days whose count differs from the number of their records. */
export async function findMiscountedDays(sql: postgres.Sql, schema: string): Promise<object[]> {
  return sql`
    with record as (
      select location_id, 'report' as kind, day from ${sql(schema)}.reports
      union all
      select location_id, 'order', day from ${sql(schema)}.orders where is_current
    ), recount as (
      select location_id, kind, day, count(*)::int as counted from record group by 1, 2, 3
    )
    select kind, day::text as day, count, coalesce(counted, 0) as counted
    from ${sql(schema)}.day_counts full join recount using (location_id, kind, day)
    where count is distinct from coalesce(counted, 0)`;
}
