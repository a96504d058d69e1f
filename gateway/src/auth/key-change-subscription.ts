import { busEventDataSchemas } from "@pragma/contracts/events";
import type { EventBus } from "@pragma/runtime/messaging/event-bus";
import { parseEventEnvelope } from "@pragma/runtime/messaging/handle-event";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { KeyCheckedStreamTracker } from "../streams/stream-tracker.ts";
import type { ApiKeyCache } from "./api-key-cache.ts";

/**
 * Subscribes to changes of keys and locations, removes the affected keys from the cache, and ends the streams of
 * changed keys. Uses core NATS instead of a JetStream consumer, so that every gateway receives every change. Core NATS
 * does not deliver the events that were published while the gateway was disconnected. Each reconnect therefore clears
 * the whole cache and checks the keys of open streams. Resolves after the first connect.
 */
export async function subscribeToApiKeyChanges(
  bus: EventBus,
  { cache, streams }: { cache: ApiKeyCache; streams: KeyCheckedStreamTracker },
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
    const { keyHash, keyId, revoked } = busEventDataSchemas["key.changed"].parse(data);
    cache.invalidateKey(keyHash, revoked);
    streams.endStreamsOfKey(keyId, revoked);
  });
  subscribe(bus.buildSubjectFilter("location.updated"), (data) => {
    cache.invalidateLocation(busEventDataSchemas["location.updated"].parse(data).locationId);
  });

  /**
   * Clears the cache twice: immediately and after the flush. Until the flush, the NATS server may not have received the
   * subscriptions, so the gateway may have missed changes of keys that it cached in the meantime.
   */
  async function invalidateAfterConnect(): Promise<void> {
    cache.clear();
    await nats.flush().catch((error) => log.warn({ err: error }, "lost the connection to NATS again"));
    cache.clear();
    await streams.checkKeys();
  }

  void invalidateAfterConnect();
  bus.onConnected(() => void invalidateAfterConnect());
}
