import type { Msg } from "@nats-io/transport-node";
import type { EventBusConnection } from "./nats-connection.ts";

/**
 * Sends notifications between the instances of a service. A notification can be lost, and only current subscribers
 * receive it. Use notifications only to react faster to changes that receivers can also find in the database.
 */
export interface InstanceNotifier {
  /** Publishes a notification. Never throws. If there is no connection to NATS, the notification is lost. */
  publish(locationId: string, text: string): void;
  /** Calls `listener` for each notification from all instances, including this one, until the event bus is closed. */
  subscribe(listener: (locationId: string, text: string) => void): void;
}

interface InstanceNotifierOptions {
  namespace: string;
  /** Resolves with the connection after the first connect to NATS. */
  connected: Promise<EventBusConnection>;
  /** Returns the connection if NATS is connected, otherwise undefined. */
  currentConnection(): EventBusConnection | undefined;
}

/**
 * Creates the notifier of a topic. Its subjects begin with `<namespace>-signals`, because a stream stores every message
 * whose subject begins with `<namespace>.` or `<namespace>-orders.`.
 */
export function createInstanceNotifier(
  topic: string,
  { namespace, connected, currentConnection }: InstanceNotifierOptions,
): InstanceNotifier {
  const subject = `${namespace}-signals.${topic}`;
  return {
    publish(locationId, text) {
      currentConnection()?.nats.publish(`${subject}.${locationId}`, text);
    },
    subscribe(listener) {
      const callback = (error: Error | null, message: Msg) => {
        if (!error) listener(message.subject.split(".").at(-1) ?? "", message.string());
      };
      connected.then(({ nats }) => nats.subscribe(`${subject}.*`, { callback })).catch(() => {});
    },
  };
}
