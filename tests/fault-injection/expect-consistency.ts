import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { selectServiceDatabase } from "@pragma/runtime/config/service-databases";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import postgres from "postgres";
import { expect } from "vitest";

/**
 * Checks the databases of the running services. Within 60 seconds, each service must have published all its events. No
 * dead letters may exist, and `findInconsistencies` must find nothing.
 */
export async function expectDatabaseConsistency(
  { namespace, variables }: IsolatedTestEnvironment,
  services: readonly ServiceName[] = serviceNames,
): Promise<void> {
  for (const service of services) {
    const { DATABASE_URL = "" } = selectServiceDatabase(variables, service);
    const sql = postgres(DATABASE_URL, { max: 1, onnotice: () => {} });
    try {
      const schema = sql(buildServiceSchemaName(namespace, service));
      await eventually(
        `the outbox of ${service} to be empty`,
        async () => (await sql`select 1 from ${schema}.outbox`).length === 0,
        { timeoutSeconds: 60 },
      );
      expect(await sql`select subscription, reason from ${schema}.dead_letters`).toEqual([]);
      if (service === "reporting")
        expect(await findInconsistencies(sql, buildServiceSchemaName(namespace, service))).toEqual([]);
    } finally {
      await sql.end();
    }
  }
}

/**
 * Returns inconsistent data in the reporting database: days whose count is wrong, orders that are not marked as current
 * in exactly one till, and reports whose metrics are missing or wrong although they are marked as stored.
 */
export async function findInconsistencies(sql: postgres.Sql, schema: string): Promise<unknown[]> {
  const table = (name: string) => sql`${sql(schema)}.${sql(name)}`;
  const orders = sql`(
    select location_id, id, day, is_current from ${table("orders")}
    union all select location_id, unnest(ids), day, is_current from ${table("packed_orders")}
  ) as orders`;
  const days = await sql`
    with things as (
      select location_id, 'order' as kind, day from ${orders} where is_current
      union all
      select location_id, 'report', day from ${table("reports")}
    ), recount as (
      select location_id, kind, day, count(*)::int as counted from things group by 1, 2, 3
    )
    select location_id, kind, day, count, counted
    from ${table("day_counts")} full join recount using (location_id, kind, day)
    where count is distinct from coalesce(counted, 0)`;
  const owners = await sql`
    select location_id, id, count(*) filter (where is_current)::int as owners from ${orders}
    group by location_id, id having count(*) filter (where is_current) <> 1`;
  const figures = await sql`
    select location_id, day, till_id, report.etag, sales, finalized, cardinality(order_hour) as cells
    from ${table("reports")} as report full join ${table("metric_totals")} using (location_id, day, till_id)
    full join ${table("metric_cells")} using (location_id, day, till_id)
    where case when has_metrics
      then order_hour is null or sales is distinct from (finalized::json ->> 'totalSales')::bigint
      else order_hour is not null or sales is not null end`;
  return [...days, ...owners, ...figures];
}

/** Returns the business days that are not stored, or whose number of tills is not that of their reports. */
export async function findStaleDays(sql: postgres.Sql, schema: string): Promise<unknown[]> {
  const table = (name: string) => sql`${sql(schema)}.${sql(name)}`;
  const days = await sql`
    with current as (select location_id, day, count(*)::int as tills from ${table("reports")} group by 1, 2)
    select location_id, day, tills, has_reports
    from current full join ${table("days")} using (location_id, day)
    where has_reports is distinct from (tills is not null)`;
  return [...days];
}
