import { publish } from "@pragma/runtime/outbox";
import type { Transaction } from "@pragma/runtime/postgres";
import type { LocationRow } from "./queries/locations.ts";

/** Tells those who keep a copy of a location that it was made or changed. */
export async function publishLocation(tx: Transaction, location: LocationRow, traceparent: string): Promise<void> {
  const { id, application, legacyId, settings } = location;
  await publish(tx, "location.updated", {
    subject: id,
    data: { locationId: id, application, legacyId, timeZone: settings.timezone },
    traceparent,
  });
}
