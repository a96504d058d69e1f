import { busEventDataSchemas, type EventEnvelope, eventEnvelopeSchema } from "@pragma/contracts/events";
import { runWithDeadline } from "../concurrency/run-with-deadline.ts";
import { type Database, type SqlTransaction, terminateTransaction } from "../database/postgres.ts";
import { type ObservabilityContext, runWithObservabilityContext } from "../observability/request-context.ts";
import { SpanKind } from "../observability/tracing.ts";
import { PermanentEventError } from "../retries/transient-error.ts";
import type { EventSubscription } from "./subscription.ts";

export interface EventHandlerDependencies<Services> {
  service: string;
  subscription: EventSubscription<Services>;
  database: Database;
  services: Services;
  handlerTimeoutMs: number;
}

export class EventHandlerTimeoutError extends Error {}

interface EventHandling<Services> extends EventHandlerDependencies<Services> {
  context: ObservabilityContext;
  abandonment?: AbortSignal;
}

/**
 * Handles one event for one subscription, unless it has been handled. Returns whether this call made changes.
 *
 * @throws `PermanentEventError` when the event's data does not match this version's schema.
 *
 * @throws `EventHandlerTimeoutError` after `handlerTimeoutMs`. The handler's transaction is terminated, and it can
 * begin no other.
 */
export function handleEventOnce<Services>(
  { id, type, time, data: rawData }: EventEnvelope,
  { subscription, database, services, handlerTimeoutMs, context, abandonment }: EventHandling<Services>,
): Promise<boolean> {
  async function handle(signal: AbortSignal): Promise<boolean> {
    const { success, data, error } = busEventDataSchemas[type].safeParse(rawData);
    if (!success) throw new PermanentEventError(`Invalid data in event ${type}: ${error.message}`);
    const key = { eventId: id, subscription: subscription.type };
    if (subscription.shouldCheckInboxFirst) {
      const [alreadyHandled] = await database.sql`
        select 1 from inbox where event_id = ${key.eventId} and subscription = ${key.subscription}`;
      if (alreadyHandled) return false;
    }

    let hadEffect = false;
    const once = (effect: (tx: SqlTransaction) => Promise<void>) =>
      database.transaction(async (tx) => {
        signal.throwIfAborted();
        const [inserted] = await tx<{ transactionId: string }[]>`
          insert into inbox ${tx(key)} on conflict do nothing returning pg_current_xact_id()::text as transaction_id`;
        if (!inserted) return;
        // Otherwise, the next attempt would wait for the locks of this one, and this one could still commit after it.
        const terminate = () => void terminateTransaction(database, inserted.transactionId).catch(() => {});
        signal.addEventListener("abort", terminate, { once: true });
        await effect(tx).finally(() => signal.removeEventListener("abort", terminate));
        signal.throwIfAborted();
        hadEffect = true;
      });
    const result = await subscription.handle({ eventId: id, time, data, services, context, signal, once });
    return hadEffect || result === true;
  }
  const message = `The handler of ${type} did not end within ${handlerTimeoutMs / 1000} s.`;
  return runWithDeadline(handle, {
    timeoutMs: handlerTimeoutMs,
    createError: () => new EventHandlerTimeoutError(message),
    ...(abandonment && { parent: abandonment }),
  });
}

/** Runs `work` with the request context of an event. The context continues the trace in the event's `traceparent`. */
export function runInEventContext<T>(
  { id, type, subject, traceparent }: EventEnvelope,
  service: string,
  work: (context: ObservabilityContext) => Promise<T>,
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
  return runWithObservabilityContext({ requestId: id, traceparent, operation }, work);
}

/**
 * Parses a message as an event envelope.
 *
 * @throws `PermanentEventError` when the envelope is invalid. Its text contains nothing of the message, which can contain
 * personal data.
 */
export function parseEventEnvelope(body: string): EventEnvelope {
  try {
    return eventEnvelopeSchema.parse(JSON.parse(body));
  } catch (cause) {
    // The errors of JSON.parse quote the message.
    if (cause instanceof SyntaxError)
      throw new PermanentEventError("The message is not a valid event envelope, because it is not valid JSON.");
    throw new PermanentEventError("The message is not a valid event envelope.", { cause });
  }
}
