import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { ImportLocation } from "@pragma/contracts/location";
import { defaultLocationOptions } from "@pragma/contracts/location-options";
import { defaultLocationSettings } from "@pragma/contracts/location-settings";
import type { RequestContext } from "@pragma/runtime/request-context";
import type { Accounts } from "./accounts.ts";
import { publishLocation } from "./location-event.ts";
import { insertLocation, locationOwner } from "./queries/locations.ts";

/**
 * Takes over a location of a legacy backoffice, with every option and setting at its default and no name yet. The same
 * location again is the one that is there.
 *
 * @throws `ApiError` location_exists when the legacyId is there already, of another organization or agency.
 */
export async function importLocation(
  { db }: Pick<Accounts, "db">,
  { location, context }: { location: ImportLocation; context: RequestContext },
): Promise<{ id: string; isNew: boolean }> {
  const { organizationId, agencyId } = location;
  return db.transaction(async (tx) => {
    const made = await insertLocation(tx, {
      ...location,
      id: randomUUID(),
      options: defaultLocationOptions,
      settingsId: randomUUID(),
      settings: defaultLocationSettings,
    });
    if (made) {
      await publishLocation(tx, made, context.traceparent);
      return { id: made.id, isNew: true };
    }
    const known = await locationOwner(tx, location);
    if (known?.organizationId === organizationId && known.agencyId === agencyId) return { id: known.id, isNew: false };
    throw new ApiError("location_exists", {
      detail: `${location.application} ${location.legacyId} is there already, of another organization or agency.`,
    });
  });
}
