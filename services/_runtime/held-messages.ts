import type { JsMsg } from "@nats-io/jetstream";

/** A message that this instance was given and has not acknowledged or handed back. */
export interface HeldMessage {
  message: JsMsg;
  locationId: string;
  /** What it is about, where of messages about one thing the one with the highest revision comes first. */
  subject?: string;
  revision: number;
}

/**
 * Messages are read ahead so that no location's have to wait until those of another are handled: as long as those held
 * are of few locations, and up to so many or so large. More than that stays where another instance can have it.
 */
const locationsPerHandler = 4;
const maxMessages = 5_000;
const maxBytes = 16 * 1024 * 1024;

/** The messages that this instance holds, given out location by location. */
export class HeldMessages {
  readonly #limits: { concurrency: number; maxPerLocation: number };
  readonly #bySequence = new Map<number, HeldMessage>();
  /** The location whose last turn is longest ago comes first. */
  readonly #locations = new Map<string, { waiting: HeldMessage[]; active: number }>();
  #bytes = 0;

  constructor(limits: { concurrency: number; maxPerLocation: number }) {
    this.#limits = limits;
  }

  hasRoomFor(messages: number): boolean {
    return (
      this.#bySequence.size + messages <= maxMessages &&
      this.#bytes < maxBytes &&
      this.#locations.size < locationsPerHandler * this.#limits.concurrency
    );
  }

  add(held: HeldMessage): void {
    // Delivered again while it is held, after a loss of connection: what is done with the first holds for both.
    if (this.#bySequence.has(held.message.seq)) return;
    this.#bySequence.set(held.message.seq, held);
    this.#bytes += held.message.data.length;
    const location = this.#locations.get(held.locationId) ?? { waiting: [], active: 0 };
    this.#locations.set(held.locationId, location);
    location.waiting.push(held);
  }

  /** Gives out the next to handle: of the location whose last turn is longest ago, the newest about its thing. */
  next(): HeldMessage | undefined {
    for (const [id, location] of this.#locations) {
      const oldest = location.waiting[0];
      if (!oldest || location.active >= this.#limits.maxPerLocation) continue;
      const next = location.waiting.reduce(newerOf, oldest);
      location.waiting.splice(location.waiting.indexOf(next), 1);
      location.active++;
      this.#locations.delete(id);
      this.#locations.set(id, location);
      return next;
    }
  }

  /** Removes a message that was given out. */
  finish({ message, locationId }: HeldMessage): void {
    this.#bySequence.delete(message.seq);
    this.#bytes -= message.data.length;
    const location = this.#locations.get(locationId);
    if (!location) return;
    location.active--;
    if (location.active === 0 && location.waiting.length === 0) this.#locations.delete(locationId);
  }

  /** Gives out every message that waits. */
  takeWaiting(): HeldMessage[] {
    return [...this.#locations.values()].flatMap((location) => {
      location.active += location.waiting.length;
      return location.waiting.splice(0);
    });
  }

  all(): Iterable<HeldMessage> {
    return this.#bySequence.values();
  }
}

function newerOf(one: HeldMessage, other: HeldMessage): HeldMessage {
  return other.subject !== undefined && other.subject === one.subject && other.revision > one.revision ? other : one;
}
