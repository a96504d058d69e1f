import type postgres from "postgres";

/**
 * Everything that reporting keeps beside the orders and reports themselves and that does not agree with them: stretches
 * with another count than a recount gives, and orders that are current in no till or in several.
 */
export async function miscounts(sql: postgres.Sql, schema: string): Promise<unknown[]> {
  const table = (name: string) => sql`${sql(schema)}.${sql(name)}`;
  const stretches = await sql`
    with things as (
      select location_id, 'order' as kind, day, opened_at as at, id from ${table("orders")} where is_current
      union all
      select location_id, 'report', day, started_at, id from ${table("reports")}
    ), stretches as (
      select *, lead((start_at, start_id)) over (partition by location_id, kind, day order by start_at, start_id) as next
      from ${table("stretches")}
    )
    select stretches.location_id, kind, day, start_at, count, counted
    from stretches cross join lateral (
      select count(*)::int as counted from things
      where things.location_id = stretches.location_id and things.kind = stretches.kind and things.day = stretches.day
        and (at, id) >= (start_at, start_id) and (next is null or (at, id) < next)
    ) as recount
    where count <> counted
    union all
    select location_id, kind, day, null, null, count(*)::int from things
    where not exists (
      select from stretches where stretches.location_id = things.location_id and stretches.kind = things.kind
        and stretches.day = things.day
    )
    group by location_id, kind, day`;
  const owners = await sql`
    select location_id, id, count(*) filter (where is_current)::int as owners from ${table("orders")}
    group by location_id, id having count(*) filter (where is_current) <> 1`;
  return [...stretches, ...owners];
}
