import { eventCatalogue } from "@pragma/contracts/events";
import type { EventBus } from "@pragma/runtime/event-bus";
import { readEnvelope } from "@pragma/runtime/handle-event";
import type { Logger } from "@pragma/runtime/logger";
import type { KeyCache } from "./key-cache.ts";

/**
 * Forgets keys as they change. Every instance hears every change, on a subscription of its own to the events'
 * subjects. What was published while there was no connection is never heard: then everything is forgotten.
 */
export async function followChanges(bus: EventBus, cache: KeyCache, log: Logger): Promise<void> {
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
        }
      },
    });
  }
  hear(bus.subjectsOf("key.changed"), (data) => {
    const { keyHash, revoked } = eventCatalogue["key.changed"].parse(data);
    cache.keyChanged(keyHash, revoked);
  });
  hear(bus.subjectsOf("location.updated"), (data) => {
    cache.locationChanged(eventCatalogue["location.updated"].parse(data).locationId);
  });

  /** What was looked up before the server knew of the subscriptions may be out of date already. */
  async function forgetWhatWasMissed(): Promise<void> {
    cache.clear();
    await nats.flush().catch((error) => log.warn({ err: error }, "lost the connection to NATS again"));
    cache.clear();
  }

  void forgetWhatWasMissed();
  for await (const { type } of nats.status()) {
    if (type === "reconnect") void forgetWhatWasMissed();
  }
}
