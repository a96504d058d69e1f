interface FairSemaphoreLimits {
  /** Messages under way in this process, beyond which an endpoint gets no more than its fair share. */
  maxPermits: number;
  /** Messages under way to one origin at most. */
  maxPermitsPerOrigin: number;
}

/** The share of an origin's places that is kept for endpoints that have none. */
const reservedOriginShare = 0.2;

/**
 * The messages that may be under way at once. Each endpoint may always have its fair share, which is what each would get
 * if all had as many, and at least one, so that none waits for another. Only the endpoints of one origin may have to.
 */
export class FairSemaphore {
  readonly #limits: FairSemaphoreLimits;
  readonly #activeByOrigin = new Map<string, number>();
  #activePermits = 0;
  /** Endpoints that hold a place. */
  #holderCount = 0;

  constructor(limits: FairSemaphoreLimits) {
    this.#limits = limits;
  }

  get activePermits(): number {
    return this.#activePermits;
  }

  /** Takes up to so many places for an endpoint that holds `held` already, and returns how many. */
  acquire(origin: string, { held, wanted }: { held: number; wanted: number }): number {
    const { maxPermits, maxPermitsPerOrigin } = this.#limits;
    const isNewHolder = held === 0;
    const fairShare = Math.max(1, Math.floor(maxPermits / (this.#holderCount + (isNewHolder ? 1 : 0))));
    const freePermits = Math.max(maxPermits - this.#activePermits, fairShare - held);
    const activeAtOrigin = this.#activeByOrigin.get(origin) ?? 0;
    const unreserved = Math.floor(maxPermitsPerOrigin * (1 - reservedOriginShare)) - activeAtOrigin;
    const freeAtOrigin = isNewHolder && activeAtOrigin < maxPermitsPerOrigin ? Math.max(1, unreserved) : unreserved;
    const acquired = Math.max(0, Math.min(wanted, freePermits, freeAtOrigin));
    if (isNewHolder && acquired > 0) this.#holderCount += 1;
    this.#addPermits(origin, acquired);
    return acquired;
  }

  /** Gives places of an endpoint back, which then holds `held`. */
  release(origin: string, { held, released }: { held: number; released: number }): void {
    if (held === 0 && released > 0) this.#holderCount -= 1;
    this.#addPermits(origin, -released);
  }

  #addPermits(origin: string, permits: number): void {
    this.#activePermits += permits;
    const active = (this.#activeByOrigin.get(origin) ?? 0) + permits;
    if (active > 0) this.#activeByOrigin.set(origin, active);
    else this.#activeByOrigin.delete(origin);
  }
}
