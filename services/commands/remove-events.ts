import { type BusEventType, busEventDataSchemas } from "@pragma/contracts/events";
import { runWithDeadline } from "@pragma/runtime/concurrency/run-with-deadline";
import { createEventBus } from "@pragma/runtime/messaging/event-bus";
import { getEventStreamKind, isMissingInJetStream } from "@pragma/runtime/messaging/event-streams";
import { createLogger } from "@pragma/runtime/observability/logger";
import { keptEventTypes } from "./location-tables.ts";
import { type RemovalContext, saveReceipt } from "./removal-receipt.ts";

/** Deletes the events of the location from the streams, except those that remain. */
export async function removeEvents(context: RemovalContext): Promise<void> {
  const { config, locationId, receipt } = context;
  // The permissions are those of the migrate command.
  const log = createLogger({ name: "location", level: "warn" });
  const bus = createEventBus(config, { name: "migrate", log });
  try {
    const { manager } = await runWithDeadline(() => bus.connected, {
      timeoutMs: 30_000,
      createError: () => new Error("NATS could not be reached. Run the command again."),
    });
    for (const type of Object.keys(busEventDataSchemas) as BusEventType[]) {
      if (keptEventTypes.includes(type)) continue;
      const filter = bus.buildSubject(type, locationId);
      const purge = manager.streams.purge(bus.streams[getEventStreamKind(type)], { filter });
      const { purged } = await purge.catch((error: unknown) => {
        // A stream without events may not exist yet.
        if (isMissingInJetStream(error)) return { purged: 0 };
        throw error;
      });
      receipt.events += purged;
    }
  } finally {
    await bus.close();
  }
  await saveReceipt(context);
}
