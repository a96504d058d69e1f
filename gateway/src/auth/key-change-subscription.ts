import { eventDataSchemas } from "@pragma/contracts/events";
import type { EventBus } from "@pragma/runtime/messaging/event-bus";
import { parseEventEnvelope } from "@pragma/runtime/messaging/handle-event";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { StreamTracker } from "../streams/stream-tracker.ts";
import type { ApiKeyCache } from "./key-cache.ts";

interface KeyChangeTargets {
  cache: ApiKeyCache;
  streams: StreamTracker;
}

/**
 * Forgets keys as they change, and ends their streams. Every instance hears every change, on a subscription of its own
 * to the events' subjects. What was published while there was no connection is never heard: then everything is
 * forgotten, and the keys of open streams are looked up again.
 */
export async function subscribeToKeyChanges(
  bus: EventBus,
  { cache, streams }: KeyChangeTargets,
  log: Logger,
): Promise<void> {
  const { nats } = await bus.connected;

  function subscribe(subjects: string, apply: (data: unknown) => void): void {
    nats.subscribe(subjects, {
      callback: (_, message) => {
        try {
          apply(parseEventEnvelope(message.string()).data);
        } catch (error) {
          log.error(
            { err: error, subject: message.subject },
            "an event about keys cannot be read; forgetting all keys",
          );
          cache.clear();
          void streams.checkKeys();
        }
      },
    });
  }
  subscribe(bus.buildSubjectFilter("key.changed"), (data) => {
    const { keyHash, keyId, revoked } = eventDataSchemas["key.changed"].parse(data);
    cache.invalidateKey(keyHash, revoked);
    streams.endStreamsOfKey(keyId, revoked);
  });
  subscribe(bus.buildSubjectFilter("location.updated"), (data) => {
    cache.invalidateLocation(eventDataSchemas["location.updated"].parse(data).locationId);
  });

  /** What was looked up before the server knew of the subscriptions may be out of date already. */
  async function invalidateAfterConnect(): Promise<void> {
    cache.clear();
    await nats.flush().catch((error) => log.warn({ err: error }, "lost the connection to NATS again"));
    cache.clear();
    await streams.checkKeys();
  }

  void invalidateAfterConnect();
  for await (const { type } of nats.status()) {
    if (type === "reconnect") void invalidateAfterConnect();
  }
}
