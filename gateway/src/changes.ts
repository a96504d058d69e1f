import { eventCatalogue } from "@pragma/contracts/events";
import type { EventBus } from "@pragma/runtime/event-bus";
import { readEnvelope } from "@pragma/runtime/handle-event";
import type { Logger } from "@pragma/runtime/logger";
import type { KeyCache } from "./key-cache.ts";
import type { OpenStreams } from "./open-streams.ts";

interface Affected {
  cache: KeyCache;
  streams: OpenStreams;
}

/**
 * Forgets keys as they change, and ends their streams. Every instance hears every change, on a subscription of its own
 * to the events' subjects. What was published while there was no connection is never heard: then everything is
 * forgotten, and the keys of open streams are looked up again.
 */
export async function followChanges(bus: EventBus, { cache, streams }: Affected, log: Logger): Promise<void> {
  const { nats } = await bus.connected;

  function hear(subjects: string, apply: (data: unknown) => void): void {
    nats.subscribe(subjects, {
      callback: (_, message) => {
        try {
          apply(readEnvelope(message.string()).data);
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
  hear(bus.subjectsOf("key.changed"), (data) => {
    const { keyHash, keyId, revoked } = eventCatalogue["key.changed"].parse(data);
    cache.keyChanged(keyHash, revoked);
    streams.keyChanged(keyId, revoked);
  });
  hear(bus.subjectsOf("location.updated"), (data) => {
    cache.locationChanged(eventCatalogue["location.updated"].parse(data).locationId);
  });

  /** What was looked up before the server knew of the subscriptions may be out of date already. */
  async function forgetWhatWasMissed(): Promise<void> {
    cache.clear();
    await nats.flush().catch((error) => log.warn({ err: error }, "lost the connection to NATS again"));
    cache.clear();
    await streams.checkKeys();
  }

  void forgetWhatWasMissed();
  for await (const { type } of nats.status()) {
    if (type === "reconnect") void forgetWhatWasMissed();
  }
}
