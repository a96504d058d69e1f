import { randomUUID } from "node:crypto";
import type { BusEventData } from "@pragma/contracts/events";
import { z } from "zod";
import type { Database } from "../database/postgres.ts";
import { writeEventToOutbox } from "../messaging/outbox.ts";
import { defineEventSubscription } from "../messaging/subscription.ts";
import { defineService } from "../service/define-service.ts";

type LocationUpdated = BusEventData<"location.updated">;

/**
 * Returns a service that inserts one row into its table `effects` for each `location.updated` event. The handler calls
 * `beforeEffect` before it inserts the row. If `beforeEffect` throws, the handler fails.
 */
export function defineTestLocationEventService(
  beforeEffect: (data: LocationUpdated) => void | Promise<void> = () => {},
) {
  return defineService<z.ZodObject, { db: Database }>({
    name: "accounts",
    module: import.meta.url,
    config: z.object({}),
    async createResources({ db }) {
      await db.sql`create table if not exists effects (location_id uuid not null)`;
      return { services: { db } };
    },
    routes: [],
    subscriptions: [
      defineEventSubscription<{ db: Database }, "location.updated">("location.updated", async ({ data, once }) => {
        await beforeEffect(data);
        await once(async (tx) => {
          await tx`insert into effects (location_id) values (${data.locationId})`;
        });
      }),
    ],
  });
}

/** Publishes a `location.updated` event. Returns the location id in the event. */
export async function publishTestLocationUpdatedEvent(
  db: Database,
  { locationId = randomUUID() as string, timeZone = "Europe/Paris" } = {},
): Promise<string> {
  await db.transaction((tx) =>
    writeEventToOutbox(tx, "location.updated", {
      traceparent: undefined,
      subject: locationId,
      data: { locationId, application: "POPINA", legacyId: null, timeZone },
    }),
  );
  return locationId;
}
