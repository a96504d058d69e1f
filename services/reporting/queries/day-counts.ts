import { recordset, type Transaction } from "@pragma/runtime/postgres";

export type Kind = "report" | "order";

interface Change {
  locationId: string;
  kind: Kind;
  /** The day of each record that there was, and that there is now: YYYY-MM-DD. */
  before: string[];
  after: string[];
}

/** Counts what came and went by day. The caller holds the location's lock. */
export async function adjustDayCounts(tx: Transaction, { locationId, kind, before, after }: Change): Promise<void> {
  const changes = new Map<string, number>();
  for (const day of before) changes.set(day, (changes.get(day) ?? 0) - 1);
  for (const day of after) changes.set(day, (changes.get(day) ?? 0) + 1);
  const changed = [...changes].filter(([, change]) => change !== 0).map(([day, change]) => ({ day, change }));
  if (changed.length === 0) return;
  await tx`
    insert into day_counts (location_id, kind, day, count)
    select ${locationId}, ${kind}, day, 0 from jsonb_to_recordset(${recordset(tx, changed)}) as given (day date)
    on conflict do nothing`;
  await tx`
    update day_counts set count = count + change
    from jsonb_to_recordset(${recordset(tx, changed)}) as given (day date, change int)
    where location_id = ${locationId} and kind = ${kind} and day_counts.day = given.day`;
}
