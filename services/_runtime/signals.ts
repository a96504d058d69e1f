import type { EventBus } from "./event-bus.ts";

/**
 * Hints between the instances of a service, heard by whoever listens at that moment and at most once. They make things
 * soon, not sure: what must not be missed is in the database.
 */
export type Signals = ReturnType<typeof openSignals>;

/** The signals of one topic. */
export function openSignals(bus: EventBus, topic: string) {
  return {
    /** Never throws; while there is no connection to NATS nobody hears it. */
    send(locationId: string, text: string): void {
      bus.current()?.nats.publish(bus.signalSubject(topic, locationId), text);
    },
    /** Calls `hear` with each signal that an instance sends, this one among them, from now until the process ends. */
    listen(hear: (locationId: string, text: string) => void): void {
      const subject = bus.signalSubject(topic, "*");
      bus.connected.then(
        ({ nats }) =>
          nats.subscribe(subject, {
            callback: (error, message) => {
              if (!error) hear(message.subject.split(".").at(-1) ?? "", message.string());
            },
          }),
        () => {},
      );
    },
  };
}
