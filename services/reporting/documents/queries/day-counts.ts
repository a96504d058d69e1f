import { type SqlTransaction, toRecordsetParameter } from "@pragma/runtime/database/postgres";

const documentKinds = ["report", "order"] as const;

export type DocumentKind = (typeof documentKinds)[number];

interface DayCountChange {
  /** The day (YYYY-MM-DD) of each report or order before and after the change. A day can occur several times. */
  before: string[];
  after: string[];
}

/** Updates the counts of reports and orders by day. The caller must lock the location first. */
export async function adjustDayCounts(
  tx: SqlTransaction,
  { locationId, ...changes }: { locationId: string } & Record<DocumentKind, DayCountChange>,
): Promise<void> {
  const changed = documentKinds.flatMap((kind) => sumChangesByDay(changes[kind]).map((sum) => ({ kind, ...sum })));
  if (changed.length === 0) return;
  const parameter = toRecordsetParameter(tx, changed);
  await Promise.all([
    tx`
      insert into day_counts (location_id, kind, day, count)
      select ${locationId}, kind, day, 0 from jsonb_to_recordset(${parameter}) as changed (kind text, day date)
      on conflict (location_id, kind, day) do nothing`,
    tx`
      update day_counts set count = count + change
      from jsonb_to_recordset(${parameter}) as changed (kind text, day date, change int)
      where location_id = ${locationId} and day_counts.kind = changed.kind and day_counts.day = changed.day`,
  ]);
}

function sumChangesByDay({ before, after }: DayCountChange): { day: string; change: number }[] {
  const changes = new Map<string, number>();
  for (const day of before) changes.set(day, (changes.get(day) ?? 0) - 1);
  for (const day of after) changes.set(day, (changes.get(day) ?? 0) + 1);
  return [...changes].filter(([, change]) => change !== 0).map(([day, change]) => ({ day, change }));
}
