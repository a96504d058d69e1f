interface SemaphoreLimits {
  /** Messages under way in this process, beyond which an endpoint gets no more than its fair share. */
  total: number;
  /** Messages under way to one origin at most. */
  perOrigin: number;
}

/** The share of an origin's places that is kept for endpoints that have none. */
const originReserve = 0.2;

/**
 * The messages that may be under way at once. Each endpoint may always have its fair share, which is what each would get
 * if all had as many, and at least one, so that none waits for another. Only the endpoints of one origin may have to.
 */
export class FairSemaphore {
  readonly #limits: SemaphoreLimits;
  readonly #activeByOrigin = new Map<string, number>();
  #active = 0;
  /** Endpoints that hold a place. */
  #holders = 0;

  constructor(limits: SemaphoreLimits) {
    this.#limits = limits;
  }

  get active(): number {
    return this.#active;
  }

  /** Takes up to so many places for an endpoint that holds `held` already, and returns how many. */
  acquire(origin: string, { held, wanted }: { held: number; wanted: number }): number {
    const { total, perOrigin } = this.#limits;
    const isNew = held === 0;
    const fairShare = Math.max(1, Math.floor(total / (this.#holders + (isNew ? 1 : 0))));
    const free = Math.max(total - this.#active, fairShare - held);
    const activeAtOrigin = this.#activeByOrigin.get(origin) ?? 0;
    const unreserved = Math.floor(perOrigin * (1 - originReserve)) - activeAtOrigin;
    const freeAtOrigin = isNew && activeAtOrigin < perOrigin ? Math.max(1, unreserved) : unreserved;
    const acquired = Math.max(0, Math.min(wanted, free, freeAtOrigin));
    if (isNew && acquired > 0) this.#holders += 1;
    this.#add(origin, acquired);
    return acquired;
  }

  /** Gives places of an endpoint back, which then holds `held`. */
  release(origin: string, { held, released }: { held: number; released: number }): void {
    if (held === 0 && released > 0) this.#holders -= 1;
    this.#add(origin, -released);
  }

  #add(origin: string, places: number): void {
    this.#active += places;
    const active = (this.#activeByOrigin.get(origin) ?? 0) + places;
    if (active > 0) this.#activeByOrigin.set(origin, active);
    else this.#activeByOrigin.delete(origin);
  }
}
