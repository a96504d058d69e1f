import { eventDataSchemas } from "@pragma/contracts/events";
import type { EventBus } from "@pragma/runtime/messaging/event-bus";
import { parseEventEnvelope } from "@pragma/runtime/messaging/handle-event";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { OpenStreamTracker } from "../streams/stream-tracker.ts";
import type { ApiKeyCache } from "./api-key-cache.ts";

interface KeyChangeTargets {
  cache: ApiKeyCache;
  streams: OpenStreamTracker;
}

/**
 * Removes changed keys from the cache and ends their streams. Every gateway receives every change, because each has a
 * plain NATS subscription. Such a subscription misses events during a disconnect, so after each reconnect the whole
 * cache is cleared and the keys of open streams are checked. Resolves when the connection is closed.
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
          log.error({ err: error, subject: message.subject }, "invalid key event; clearing the key cache");
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

  /** Clears the cache again after the flush: keys looked up before the server had the subscriptions may be outdated. */
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
