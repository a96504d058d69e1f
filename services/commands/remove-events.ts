import { type BusEventType, busEventDataSchemas } from "@pragma/contracts/events";
import { runWithDeadline } from "@pragma/runtime/concurrency/run-with-deadline";
import { commonServiceConfigSchema } from "@pragma/runtime/config/runtime-config";
import { createEventBus } from "@pragma/runtime/messaging/event-bus";
import { getEventStreamKind, isMissingInJetStream } from "@pragma/runtime/messaging/event-streams";
import type { EventBusConnection } from "@pragma/runtime/messaging/nats-connection";
import { createLogger } from "@pragma/runtime/observability/logger";
import type { z } from "zod";
import { keptEventTypes, type RemovalContext, saveReceipt } from "./removal-receipt.ts";

export const natsConfigSchema = commonServiceConfigSchema.pick({ NATS_URL: true, EVENT_STREAM_REPLICAS: true });

/** Deletes the events of the location from the streams, except those that remain. */
export async function removeEvents(
  context: RemovalContext,
  { NATS_URL, EVENT_STREAM_REPLICAS }: z.infer<typeof natsConfigSchema>,
): Promise<void> {
  const { config, locationId, receipt } = context;
  // The permissions are those of the migrate command.
  const log = createLogger({ name: "location", level: "warn" });
  const bus = createEventBus({ ...config, NATS_URL, EVENT_STREAM_REPLICAS }, { name: "migrate", log });
  try {
    const { manager } = await runWithDeadline(() => bus.connected, {
      timeoutMs: 30_000,
      createError: () => new Error("NATS could not be reached. Run the command again."),
    });
    for (const type of Object.keys(busEventDataSchemas) as BusEventType[]) {
      if (keptEventTypes.includes(type)) continue;
      receipt.events += await purgeSubject(manager, {
        stream: bus.streams[getEventStreamKind(type)],
        filter: bus.buildSubject(type, locationId),
      });
    }
  } finally {
    await bus.close();
  }
  await saveReceipt(context);
}

/** Deletes the events of a subject, and returns their number. A stream without events may not exist yet. */
async function purgeSubject(
  manager: EventBusConnection["manager"],
  { stream, filter }: { stream: string; filter: string },
): Promise<number> {
  try {
    return (await manager.streams.purge(stream, { filter })).purged;
  } catch (error) {
    if (isMissingInJetStream(error)) return 0;
    throw error;
  }
}
