import { randomUUID } from "node:crypto";
import type { CreateLocation } from "@pragma/contracts/location";
import type { RequestContext } from "@pragma/runtime/request-context";
import type { Accounts } from "./accounts.ts";
import { publishLocation } from "./location-event.ts";
import { insertLocation } from "./queries/locations.ts";

/** Makes a location with its options and settings, and its `location.updated` event; gives its id. */
export async function createLocation(
  { db }: Pick<Accounts, "db">,
  { location, context }: { location: CreateLocation; context: RequestContext },
): Promise<string> {
  const { application, organizationId, agencyId, locationSettings: settings, ...options } = location;
  return db.transaction(async (tx) => {
    const made = await insertLocation(tx, {
      id: randomUUID(),
      application,
      legacyId: null,
      organizationId,
      agencyId,
      options,
      settingsId: randomUUID(),
      settings,
    });
    if (!made) throw new Error("A location without a legacyId cannot be in another's place.");
    await publishLocation(tx, made, context.traceparent);
    return made.id;
  });
}
