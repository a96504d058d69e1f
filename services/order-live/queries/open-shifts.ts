import type { SqlTransaction } from "@pragma/runtime/database/postgres";

export interface OpenShift {
  tillId: string;
  /** When the first known order of the shift was opened, as RFC 3339. */
  startedAt: string;
  /** YYYY-MM-DD in the location's time zone. */
  day: string;
}

type OpenShiftRow = Omit<OpenShift, "startedAt"> & { startedAt: Date };

const toOpenShift = ({ startedAt, ...rest }: OpenShiftRow): OpenShift => ({
  ...rest,
  startedAt: startedAt.toISOString(),
});

/** Returns those given tills that have a final report, and the open shifts of those that do not. */
export async function findFinalTillsAndOpenShifts(
  tx: SqlTransaction,
  { locationId, tillIds }: { locationId: string; tillIds: string[] },
): Promise<{ finalTillIds: Set<string>; openShifts: Map<string, OpenShift> }> {
  const rows = await tx<(OpenShiftRow | { tillId: string; startedAt: null; day: null })[]>`
    select till_id, null::timestamptz as started_at, null::text as day from final_tills
    where location_id = ${locationId} and till_id = any(${tillIds}::uuid[])
    union all
    select till_id, started_at, day::text from open_shifts
    where location_id = ${locationId} and till_id = any(${tillIds}::uuid[])`;
  const finalTillIds = new Set<string>();
  const openShifts = new Map<string, OpenShift>();
  for (const row of rows) {
    if (row.startedAt === null) finalTillIds.add(row.tillId);
    else openShifts.set(row.tillId, toOpenShift(row));
  }
  return { finalTillIds, openShifts };
}

/** Deletes those given shifts that have no live orders, and returns them. Orders in training mode do not count. */
export async function deleteShiftsWithoutLiveOrders(
  tx: SqlTransaction,
  { locationId, tillIds }: { locationId: string; tillIds: string[] },
): Promise<OpenShift[]> {
  const rows = await tx<OpenShiftRow[]>`
    delete from open_shifts as shift where location_id = ${locationId} and till_id = any(${tillIds}::uuid[])
      and not exists (
        select from live_orders
        where location_id = ${locationId} and till_id = shift.till_id and departed_at is null and not is_training
      )
    returning till_id, started_at, day::text as day`;
  return rows.map(toOpenShift);
}
