import { type Waiter, WaitingLine } from "./waiting-line.ts";

interface PlaceLimits {
  /** Messages under way in this process at most. */
  total: number;
  /** Of those, to one origin at most. */
  perOrigin: number;
}

interface Wish {
  wanted: number;
  /** Whether the endpoint has no message under way yet. */
  hasNone: boolean;
  /** Called when there may be more. */
  waiter: Waiter;
}

/** This share of the places is kept for endpoints that have none. */
const reserve = 0.2;

/**
 * The messages that may be under way at once, shared out so that no endpoint, and no host with many endpoints, leaves
 * the others without.
 */
export class SharedPlaces {
  readonly #limits: PlaceLimits;
  readonly #takenAt = new Map<string, number>();
  readonly #line = new WaitingLine();
  readonly #lineAt = new Map<string, WaitingLine>();
  #taken = 0;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Takes as many places as there are, up to what is wanted. When it is fewer, the waiter is called once one is free. */
  take(origin: string, { wanted, hasNone, waiter }: Wish): number {
    const share = hasNone ? 1 : 1 - reserve;
    const takenAt = this.#takenAt.get(origin) ?? 0;
    const free = Math.floor(this.#limits.total * share) - this.#taken;
    const freeAt = Math.floor(this.#limits.perOrigin * share) - takenAt;
    const places = Math.max(0, Math.min(wanted, free, freeAt));
    if (places > 0) {
      this.#taken += places;
      this.#takenAt.set(origin, takenAt + places);
    }
    if (places < wanted) (free <= freeAt ? this.#line : this.#lineOf(origin)).add(waiter, { hasNone });
    return places;
  }

  giveBack(origin: string, places: number): void {
    if (places === 0) return;
    this.#taken -= places;
    const left = (this.#takenAt.get(origin) ?? 0) - places;
    if (left > 0) this.#takenAt.set(origin, left);
    else this.#takenAt.delete(origin);
    if (this.#line.isEmpty && !this.#lineAt.has(origin)) return;
    // Whoever gives places back may be about to take some.
    setImmediate(() => {
      for (let place = 0; place < places; place += 1) {
        this.#lineAt.get(origin)?.callNext();
        this.#line.callNext();
      }
      if (this.#lineAt.get(origin)?.isEmpty) this.#lineAt.delete(origin);
    });
  }

  #lineOf(origin: string): WaitingLine {
    const line = this.#lineAt.get(origin) ?? new WaitingLine();
    this.#lineAt.set(origin, line);
    return line;
  }
}
