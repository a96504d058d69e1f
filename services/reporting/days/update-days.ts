import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { computeEntityTag } from "@pragma/runtime/http/route-response";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import { v5 as uuidV5 } from "uuid";
import { computeDay } from "./compute-day.ts";
import { compressDayText } from "./day-texts.ts";
import { type DayKey, findDayParts, type StoredDay, upsertDay } from "./queries/days.ts";

interface DaysChange {
  locationId: string;
  days: readonly string[];
  updatedAt: string;
  traceparent?: string | undefined;
  /** Whether the reports of the days are removed because of their age. */
  isExpiry?: boolean;
}

/**
 * Computes and stores days whose reports have changed, and the later days whose report numbers follow theirs. The caller
 * must lock the location first. Publishes `day.closed` or `day.incomplete` for each day whose state changes, and returns
 * the days whose states have changed.
 */
export async function updateDays(tx: SqlTransaction, { days, ...change }: DaysChange): Promise<string[]> {
  const changed = [...new Set(days)].sort();
  const following = new Set<string>();
  const withOtherStates: string[] = [];
  const update = async (day: string) => {
    const { laterDays, isOtherState } = await updateDay(tx, { ...change, day });
    if (isOtherState) withOtherStates.push(day);
    return laterDays;
  };
  for (const day of changed) for (const next of await update(day)) following.add(next);
  // The report numbers before the first that is kept are not missing.
  if (!change.isExpiry) for (const day of [...following].sort()) if (!changed.includes(day)) await update(day);
  return withOtherStates;
}

interface UpdatedDay {
  /** The later days whose report numbers follow those that have changed. */
  laterDays: string[];
  isOtherState: boolean;
}

/** Computes and stores one day. */
async function updateDay(
  tx: SqlTransaction,
  { locationId, day, updatedAt, traceparent, isExpiry }: Omit<DaysChange, "days"> & DayKey,
): Promise<UpdatedDay> {
  const key = { locationId, day };
  const parts = await findDayParts(tx, key);
  const { tills, storedDay: previous, laterDays } = parts;
  if (tills.length + parts.openShifts.length + parts.ordersWithoutTill.length === 0) {
    if (!previous) return { laterDays: [], isOtherState: false };
    await tx`delete from days where location_id = ${locationId} and day = ${day}::text::date`;
    return { laterDays: findFollowingDays(laterDays, Object.keys(previous.lastShifts)), isOtherState: true };
  }
  const { content, lastShifts } = computeDay(tills, parts);
  const serialize = (change: { dayRevision: number; updatedAt: string }) =>
    JSON.stringify({ day, locationId, ...content, ...change });
  if (previous) {
    const { dayRevision, updatedAt: previousTime } = previous;
    if (previous.etag === computeEntityTag(serialize({ dayRevision, updatedAt: previousTime })))
      return { laterDays: [], isOtherState: false };
  }
  const dayRevision = (previous?.dayRevision ?? 0) + 1;
  const body = serialize({ dayRevision, updatedAt });
  const { state } = content;
  const etag = computeEntityTag(body);
  const row = { ...key, state, dayRevision, updatedAt, etag, lastShifts, body: compressDayText(body) };
  const isOtherState = previous?.state !== state;
  const isPublished = state !== "open" && !isExpiry && isOtherState;
  const publish = async () => {
    if (!isPublished) return;
    const { reasons, tillCount, totals } = content;
    const data = { locationId, day, dayRevision, state, reasons, tillCount, totalSales: totals?.totalSales ?? null };
    // The entity tag distinguishes the day from one with the same number whose reports were all removed.
    const id = uuidV5(`day ${day} ${dayRevision} ${etag}`, locationId);
    await writeEventToOutbox(tx, `day.${state}`, { id, subject: locationId, data, traceparent });
  };
  await Promise.all([upsertDay(tx, { ...row, hasReports: tills.length > 0 }), publish()]);
  const previousShifts = previous?.lastShifts ?? {};
  // Later days continue from the number and the end of the last shift.
  const changed = Object.keys({ ...previousShifts, ...lastShifts }).filter((device) => {
    const [one, other] = [previousShifts[device], lastShifts[device]];
    return one?.lastReportNumber !== other?.lastReportNumber || one?.finalizedAt !== other?.finalizedAt;
  });
  return { laterDays: findFollowingDays(laterDays, changed), isOtherState };
}

/** Returns the first of these days on which each of the devices has a shift. */
function findFollowingDays(later: readonly StoredDay[], devices: readonly string[]): string[] {
  return devices.flatMap((device) => later.find((stored) => Object.hasOwn(stored.lastShifts, device))?.day ?? []);
}
