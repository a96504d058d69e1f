import { randomUUID } from "node:crypto";
import type { BusEventData } from "@pragma/contracts/events";
import { orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import { OrderLiveInput } from "@pragma/contracts/order-live";
import { z } from "zod";
import type { Database } from "../database/postgres.ts";
import { writeEventJsonToOutbox } from "../messaging/outbox.ts";
import { defineEventSubscription, type EventHandlerInput } from "../messaging/subscription.ts";
import { defineService } from "../service/define-service.ts";

type EffectEventType = "location.updated" | "order.call";

async function insertEffect({ data, once }: EventHandlerInput<EffectEventType, unknown>): Promise<void> {
  await once(async (tx) => {
    await tx`insert into effects (location_id) values (${data.locationId})`;
  });
}

/** Returns a service that inserts one row into its table `effects` for each `location.updated` and `order.call` event. */
export function defineTestOrderEventService() {
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
      defineEventSubscription<{ db: Database }, "location.updated">("location.updated", insertEffect),
      defineEventSubscription<{ db: Database }, "order.call">("order.call", insertEffect),
    ],
  });
}

const { data: exampleData, ...exampleHead } = OrderLiveInput.parse(orderLiveInputExample);

/** Returns the data of an `order.call` event. */
function buildTestOrderCallData(locationId: string): BusEventData<"order.call"> {
  const { tillId, revisionHash } = exampleHead;
  return {
    locationId,
    sequence: 1,
    order: { ...exampleHead, ...exampleData, id: randomUUID(), locationId, tillId, revisionHash },
  };
}

/**
 * Publishes an `order.call` event with a new location id, which it returns. A field that subscribers ignore makes the
 * event as large as the test needs.
 */
export async function publishTestOrderEvent(db: Database, { paddingBytes = 0 } = {}): Promise<string> {
  const locationId = randomUUID();
  await db.transaction((tx) =>
    writeEventJsonToOutbox(tx, "order.call", {
      traceparent: undefined,
      subject: locationId,
      locationId,
      data: JSON.stringify({ ...buildTestOrderCallData(locationId), padding: "x".repeat(paddingBytes) }),
    }),
  );
  return locationId;
}
