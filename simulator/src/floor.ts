import type { OrderTimes } from "./order-times.ts";
import type { Random } from "./random.ts";
import type { Room, Table } from "./restaurant.ts";

/** Which tables are taken, for orders that are seated one after the other as they are opened. */
export class Floor {
  readonly #takenUntil = new Map<string, string>();

  /** A free table of the room, taken from now on until the order is closed; where none is free, guests share one. */
  seat(random: Random, room: Room, { openedAt, closedAt }: OrderTimes): Table {
    const free = room.tables.filter(({ id }) => (this.#takenUntil.get(id) ?? "") <= openedAt);
    const table = random.pick(free.length > 0 ? free : room.tables);
    this.#takenUntil.set(table.id, closedAt);
    return table;
  }
}
