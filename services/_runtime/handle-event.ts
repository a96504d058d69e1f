import { type EventEnvelope, eventCatalogue, eventEnvelope } from "@pragma/contracts/events";
import type { Database, Transaction } from "./postgres.ts";
import { type RequestContext, withRequestContext } from "./request-context.ts";
import type { Subscription } from "./subscription.ts";
import { SpanKind } from "./tracing.ts";
import { PermanentError } from "./transient-error.ts";

export interface HandleOptions<Services> {
  service: string;
  subscription: Subscription<Services>;
  database: Database;
  services: Services;
}

/**
 * Handles one event for one subscription, unless it was handled before.
 *
 * @returns whether this call had the effect.
 * @throws `PermanentError` when the event is not one that this version understands.
 */
export async function handleEvent<Services>(
  { id, type, time, data: given }: EventEnvelope,
  { subscription, database, services, context }: HandleOptions<Services> & { context: RequestContext },
): Promise<boolean> {
  const { success, data, error } = eventCatalogue[type].safeParse(given);
  if (!success) throw new PermanentError(`The data of ${type} is not what it should be: ${error.message}`);
  const key = { eventId: id, subscription: subscription.type };
  if (!subscription.isBatched) {
    const [known] = await database.sql`
      select 1 from inbox where event_id = ${key.eventId} and subscription = ${key.subscription}`;
    if (known) return false;
  }

  let hadEffect = false;
  const once = (effect: (tx: Transaction) => Promise<void>) =>
    database.transaction(async (tx) => {
      const noted = await tx`insert into inbox ${tx(key)} on conflict do nothing`;
      if (noted.count === 0) return;
      await effect(tx);
      hadEffect = true;
    });
  const result = await subscription.handle({ eventId: id, time, data, services, context, once });
  return hadEffect || result === true;
}

/** Runs `work` in the context of an event that a service handles: a part of the trace of its cause. */
export function withEventContext<T>(
  { id, type, subject, traceparent }: EventEnvelope,
  service: string,
  work: (context: RequestContext) => Promise<T>,
): Promise<T> {
  const attributes = {
    "pragma.service": service,
    "messaging.system": "nats",
    "messaging.operation.type": "process",
    "messaging.destination.name": type,
    "messaging.message.id": id,
    "pragma.subject": subject,
  };
  const operation = { name: `${type} process`, kind: SpanKind.CONSUMER, attributes };
  return withRequestContext({ requestId: id, traceparent, operation }, work);
}

/** Reads an envelope from the wire; throws `PermanentError` when it is none. */
export function readEnvelope(body: string): EventEnvelope {
  try {
    return eventEnvelope.parse(JSON.parse(body));
  } catch (cause) {
    throw new PermanentError("The message is not an event in the envelope of this product.", { cause });
  }
}
