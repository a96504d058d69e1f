import type { ChangeLocation } from "@pragma/contracts/location";
import type { RequestContext } from "@pragma/runtime/request-context";
import type { Accounts } from "./accounts.ts";
import { publishLocation } from "./location-event.ts";
import { type LocationRow, locationForUpdate, updateLocation } from "./queries/locations.ts";
import { locationNotFound } from "./readable-location.ts";

/**
 * Changes what is told of a location and leaves the rest, with its `location.updated` event.
 *
 * @throws `ApiError` location_not_found.
 */
export async function changeLocation(
  { db }: Pick<Accounts, "db">,
  { id, change, context }: { id: string; change: ChangeLocation; context: RequestContext },
): Promise<LocationRow> {
  const { organizationId, agencyId, locationSettings = {}, ...options } = change;
  return db.transaction(async (tx) => {
    const location = await locationForUpdate(tx, id);
    if (!location) throw locationNotFound(id);
    const changed = await updateLocation(tx, {
      id,
      organizationId: organizationId ?? location.organizationId,
      agencyId: agencyId ?? location.agencyId,
      options: { ...location.options, ...given(options) },
      settings: { ...location.settings, ...given(locationSettings) },
    });
    await publishLocation(tx, changed, context.traceparent);
    return changed;
  });
}

/** The fields that were given: those that are undefined are left out. */
type Given<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

function given<Fields extends object>(fields: Fields): Given<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<Fields>;
}
