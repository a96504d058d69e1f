import type { JsMsg } from "@nats-io/jetstream";

/** A message that this instance was given and has not acknowledged or handed back. */
export interface HeldMessage {
  message: JsMsg;
  locationId: string;
  /** What it is about. Of two messages with the same key, the one with the higher revision makes the other moot. */
  key: string;
  revision: number;
}

/** Messages about one thing, the one with the highest revision last. */
interface Group {
  locationId: string;
  messages: HeldMessage[];
}

interface LocationMessages {
  waiting: Group[];
  active: number;
}

/** The messages in hand, given out location by location. */
export interface HeldMessages {
  readonly size: number;
  readonly bytes: number;
  /** How many locations they are of. */
  readonly locations: number;
  add(held: HeldMessage): void;
  /** The next to handle: of the location whose last turn is longest ago, the newest about its thing. */
  next(): HeldMessage | undefined;
  /**
   * Removes a message that was given out, and, where it succeeded, those that it made moot: these are returned. Where it
   * did not, the next newest about the same thing has its turn.
   */
  finish(held: HeldMessage, hasSucceeded: boolean): HeldMessage[];
  /** Removes and returns every message that was not given out. */
  takeWaiting(): HeldMessage[];
  all(): Iterable<HeldMessage>;
}

export function createHeldMessages({ maxPerLocation }: { maxPerLocation: number }): HeldMessages {
  const bySequence = new Map<number, HeldMessage>();
  const active = new Set<HeldMessage>();
  const groups = new Map<string, Group>();
  /** The location whose last turn is longest ago comes first. */
  const locations = new Map<string, LocationMessages>();
  let bytes = 0;

  function remove(held: HeldMessage): void {
    active.delete(held);
    bySequence.delete(held.message.seq);
    bytes -= held.message.data.length;
  }

  return {
    get size() {
      return bySequence.size;
    },
    get bytes() {
      return bytes;
    },
    get locations() {
      return locations.size;
    },
    add(held) {
      // Delivered again while it is in hand, after a loss of connection: what is done with the first holds for both.
      if (bySequence.has(held.message.seq)) return;
      bySequence.set(held.message.seq, held);
      bytes += held.message.data.length;
      const { key, locationId } = held;
      const group = groups.get(key);
      if (group) {
        const isNewest = held.revision >= (group.messages.at(-1)?.revision ?? 0);
        group.messages.push(held);
        if (!isNewest) group.messages.sort((a, b) => a.revision - b.revision);
        return;
      }
      const added = { locationId, messages: [held] };
      groups.set(key, added);
      const location = locations.get(locationId) ?? { waiting: [], active: 0 };
      locations.set(locationId, location);
      location.waiting.push(added);
    },
    next() {
      for (const [id, location] of locations) {
        if (location.active >= maxPerLocation) continue;
        const held = location.waiting.shift()?.messages.at(-1);
        if (!held) continue;
        location.active++;
        active.add(held);
        locations.delete(id);
        locations.set(id, location);
        return held;
      }
    },
    finish(held, hasSucceeded) {
      const { key, locationId, revision } = held;
      const group = groups.get(key);
      const location = locations.get(locationId);
      if (!group || !location) throw new Error("This message is not in hand.");
      const isGone = (each: HeldMessage) => each === held || (hasSucceeded && each.revision <= revision);
      const gone = group.messages.filter(isGone);
      for (const each of gone) remove(each);
      group.messages = group.messages.filter((each) => !isGone(each));
      location.active--;
      if (group.messages.length > 0) location.waiting.push(group);
      else groups.delete(key);
      if (location.active === 0 && location.waiting.length === 0) locations.delete(locationId);
      return gone.filter((each) => each !== held);
    },
    takeWaiting() {
      const taken = [...bySequence.values()].filter((held) => !active.has(held));
      for (const held of taken) remove(held);
      for (const [key, group] of groups) {
        group.messages = group.messages.filter((held) => active.has(held));
        if (group.messages.length === 0) groups.delete(key);
      }
      for (const [id, location] of locations) {
        location.waiting = [];
        if (location.active === 0) locations.delete(id);
      }
      return taken;
    },
    all: () => bySequence.values(),
  };
}
