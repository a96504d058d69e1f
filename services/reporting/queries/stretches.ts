import type { Transaction } from "@pragma/runtime/postgres";
import type { PositionChange } from "../list-positions.ts";

export type Kind = "report" | "order";

/** Entries that a stretch may hold before it is split; also how far a page's start is from one that is known. */
const longestStretch = 512;
const splitInto = 256;

interface Stretch {
  day: string;
  start_at: string;
  start_id: string;
  count: number;
}

/** The records that are counted, as (location_id, day, at, id). */
const counted = (sql: Transaction, kind: Kind) =>
  kind === "report"
    ? sql`(select location_id, day, started_at as at, id from reports)`
    : sql`(select location_id, day, opened_at as at, id from orders where is_current)`;

/** Counts what came and went. The caller holds the location's lock, and the records are already as they will be. */
export async function adjustStretches(
  tx: Transaction,
  { locationId, kind, changes }: { locationId: string; kind: Kind; changes: PositionChange[] },
): Promise<void> {
  if (changes.length === 0) return;
  await adjustDays(tx, { locationId, kind, changes });
  const days = [...new Set(changes.map(({ day }) => day))];
  await tx`
    insert into stretches (location_id, kind, day, start_at, start_id, count)
    select ${locationId}, ${kind}, day, '-infinity', '00000000-0000-0000-0000-000000000000', 0
    from unnest(${days}::date[]) as given (day)
    on conflict do nothing`;
  const adjusted = await tx<Stretch[]>`
    with change as (
      select * from unnest(
        ${changes.map(({ day }) => day)}::date[], ${changes.map(({ at }) => at)}::timestamptz[],
        ${changes.map(({ id }) => id)}::uuid[], ${changes.map(({ delta }) => delta)}::int[]
      ) as given (day, at, id, delta)
    ), total as (
      select stretch.day, stretch.start_at, stretch.start_id, sum(change.delta)::int as delta
      from change cross join lateral (
        select day, start_at, start_id from stretches
        where location_id = ${locationId} and kind = ${kind} and day = change.day
          and (start_at, start_id) <= (change.at, change.id)
        order by start_at desc, start_id desc limit 1
      ) as stretch
      group by 1, 2, 3
    )
    update stretches set count = count + total.delta from total
    where location_id = ${locationId} and kind = ${kind} and stretches.day = total.day
      and stretches.start_at = total.start_at and stretches.start_id = total.start_id
    returning stretches.day::text as day, stretches.start_at::text as start_at, stretches.start_id, count`;
  for (const stretch of adjusted.filter(({ count }) => count > longestStretch)) {
    await split(tx, { locationId, kind, stretch });
  }
}

async function adjustDays(
  tx: Transaction,
  { locationId, kind, changes }: { locationId: string; kind: Kind; changes: PositionChange[] },
): Promise<void> {
  const deltas = new Map<string, number>();
  for (const { day, delta } of changes) deltas.set(day, (deltas.get(day) ?? 0) + delta);
  await tx`
    insert into day_counts (location_id, kind, day, count)
    select ${locationId}, ${kind}, day, 0 from unnest(${[...deltas.keys()]}::date[]) as given (day)
    on conflict do nothing`;
  await tx`
    update day_counts set count = count + given.delta
    from unnest(${[...deltas.keys()]}::date[], ${[...deltas.values()]}::int[]) as given (day, delta)
    where location_id = ${locationId} and kind = ${kind} and day_counts.day = given.day`;
}

async function split(
  tx: Transaction,
  { locationId, kind, stretch }: { locationId: string; kind: Kind; stretch: Stretch },
): Promise<void> {
  await tx`
    with entry as (
      select at, id, row_number() over (order by at, id) - 1 as place
      from ${counted(tx, kind)} as record
      where location_id = ${locationId} and day = ${stretch.day}
        and (at, id) >= (${stretch.start_at}::timestamptz, ${stretch.start_id}::uuid)
      order by at, id limit ${stretch.count}
    ), made as (
      insert into stretches (location_id, kind, day, start_at, start_id, count)
      select ${locationId}, ${kind}, ${stretch.day}, at, id, least(${splitInto}, ${stretch.count} - place)
      from entry where place > 0 and place % ${splitInto} = 0
    )
    update stretches set count = ${splitInto}
    where location_id = ${locationId} and kind = ${kind} and day = ${stretch.day}
      and start_at = ${stretch.start_at}::timestamptz and start_id = ${stretch.start_id}`;
}
