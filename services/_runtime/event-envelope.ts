import { type EventData, type EventEnvelope, type EventType, eventCatalogue } from "@pragma/contracts/events";

interface Contents<Type extends EventType> {
  id: string;
  /** What the event is about, e.g. the till's id. */
  subject: string;
  data: EventData<Type>;
  /** Of its cause (W3C). */
  traceparent?: string | undefined;
}

/** An event as it travels, of this moment. Throws when its data is not as the catalogue says. */
export function envelopeOf<Type extends EventType>(
  type: Type,
  { id, subject, data, traceparent }: Contents<Type>,
): EventEnvelope {
  return {
    specversion: "1.0",
    id,
    type,
    source: "/pragma",
    time: new Date().toISOString(),
    subject,
    ...(traceparent && { traceparent }),
    data: eventCatalogue[type].parse(data),
  };
}
