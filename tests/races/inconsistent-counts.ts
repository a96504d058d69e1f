import type postgres from "postgres";

/**
 * Returns all derived data of reporting that disagrees with the reports and orders: days with a wrong count, and orders
 * that are current in no till or in several.
 */
export async function findInconsistentCounts(sql: postgres.Sql, schema: string): Promise<unknown[]> {
  const table = (name: string) => sql`${sql(schema)}.${sql(name)}`;
  const days = await sql`
    with things as (
      select location_id, 'order' as kind, day from ${table("orders")} where is_current
      union all
      select location_id, 'report', day from ${table("reports")}
    ), recount as (
      select location_id, kind, day, count(*)::int as counted from things group by 1, 2, 3
    )
    select location_id, kind, day, count, counted
    from ${table("day_counts")} full join recount using (location_id, kind, day)
    where count is distinct from coalesce(counted, 0)`;
  const owners = await sql`
    select location_id, id, count(*) filter (where is_current)::int as owners from ${table("orders")}
    group by location_id, id having count(*) filter (where is_current) <> 1`;
  return [...days, ...owners];
}
