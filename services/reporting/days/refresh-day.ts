import { acquireTransactionAdvisoryLock, type Database } from "@pragma/runtime/database/postgres";
import { recordLocationWrite } from "@pragma/runtime/database/read-replica";
import { type DayKey, findDay } from "../queries/days.ts";
import { updateDays } from "./update-days.ts";

/**
 * Computes and stores a day that is not stored, or that is out of date, because an earlier version stored one of its
 * reports. Returns undefined if there is nothing to show of the day.
 */
export async function refreshDay(db: Database, key: DayKey): Promise<{ etag: string; body: string } | undefined> {
  return db.transaction(async (tx) => {
    const { locationId, day } = key;
    await acquireTransactionAdvisoryLock(tx, db, `location ${locationId}`);
    let found = await findDay(tx, key);
    if (!found) return undefined;
    if (found.body === null) {
      await recordLocationWrite(tx, locationId);
      await updateDays(tx, {
        locationId,
        days: [day],
        updatedAt: new Date().toISOString(),
        shouldPublishNewDays: false,
      });
      found = await findDay(tx, key);
      if (!found) return undefined;
    }
    if (found.body === null || found.etag === null) throw new Error(`The day ${day} was not stored.`);
    return { etag: found.etag, body: found.body };
  });
}
