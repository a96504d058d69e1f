import type { Msg } from "@nats-io/transport-node";
import type { EventBusConnectionState } from "./nats-connection.ts";

/**
 * Sends notifications between the instances of a service. A notification can be lost, and only current subscribers
 * receive it. Use notifications only to react faster to changes that receivers can also find in the database.
 */
export type InstanceNotifier = ReturnType<typeof createInstanceNotifier>;

export function createInstanceNotifier(
  topic: string,
  { namespace, connected, currentConnection }: EventBusConnectionState,
) {
  // Streams store every message whose subject begins with `<namespace>.` or `<namespace>-orders.`.
  const subject = `${namespace}-signals.${topic}`;
  return {
    /** Never throws. Without a connection to NATS, the notification is lost. */
    publish(locationId: string, text: string): void {
      currentConnection()?.nats.publish(`${subject}.${locationId}`, text);
    },
    /** Calls `listener` for each notification from all instances, including this one, until the event bus is closed. */
    subscribe(listener: (locationId: string, text: string) => void): void {
      const callback = (error: Error | null, message: Msg) => {
        if (!error) listener(message.subject.split(".").at(-1) ?? "", message.string());
      };
      connected.then(({ nats }) => nats.subscribe(`${subject}.*`, { callback })).catch(() => {});
    },
  };
}
