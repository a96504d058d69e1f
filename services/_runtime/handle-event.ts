import { type EventEnvelope, eventCatalogue, eventEnvelope } from "@pragma/contracts/events";
import type { Database } from "./postgres.ts";
import type { RequestContext } from "./request-context.ts";
import type { Subscription } from "./subscription.ts";
import { PermanentError } from "./transient-error.ts";

/**
 * Handles one event for one subscription, unless it was handled before.
 *
 * @returns whether this call had the effect.
 * @throws `PermanentError` when the event is not one that this version understands.
 */
export async function handleEvent<Services>(
  envelope: EventEnvelope,
  {
    subscription,
    database,
    services,
    context,
  }: { subscription: Subscription<Services>; database: Database; services: Services; context: RequestContext },
): Promise<boolean> {
  const data = eventCatalogue[envelope.type].safeParse(envelope.data);
  if (!data.success)
    throw new PermanentError(`The data of ${envelope.type} is not what it should be: ${data.error.message}`);
  const key = { event_id: envelope.id, subscription: subscription.type };
  const { sql } = database;
  if (!subscription.isBatched) {
    const [known] =
      await sql`select 1 from inbox where event_id = ${key.event_id} and subscription = ${key.subscription}`;
    if (known) return false;
  }

  let hadEffect = false;
  await subscription.handle({
    eventId: envelope.id,
    time: envelope.time,
    data: data.data,
    services,
    context,
    once: (effect) =>
      database.transaction(async (tx) => {
        const noted = await tx`insert into inbox ${tx(key)} on conflict do nothing`;
        if (noted.count === 0) return;
        await effect(tx);
        hadEffect = true;
      }),
    async onceTogether(effect) {
      hadEffect = await effect();
    },
  });
  return hadEffect;
}

/** Of what an event is about, for a subscription to which only the highest revision matters; undefined otherwise. */
export function revisionIn<Services>(
  { type, data }: EventEnvelope,
  { revisionOf }: Subscription<Services>,
): number | undefined {
  const known = revisionOf && eventCatalogue[type].safeParse(data);
  return known?.success ? revisionOf?.(known.data) : undefined;
}

/** Reads an envelope from the wire; throws `PermanentError` when it is none. */
export function readEnvelope(body: string): EventEnvelope {
  try {
    return eventEnvelope.parse(JSON.parse(body));
  } catch (cause) {
    throw new PermanentError("The message is not an event in the envelope of this product.", { cause });
  }
}
