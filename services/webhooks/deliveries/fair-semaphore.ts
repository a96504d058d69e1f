interface FairSemaphoreLimits {
  /** Number of messages in flight from this process. Beyond this number, each endpoint gets only its fair share. */
  maxPermits: number;
  /** Maximum number of messages in flight to one origin. */
  maxPermitsPerOrigin: number;
}

/** The share of an origin's permits that is reserved for endpoints without a permit. */
const reservedOriginShare = 0.2;

/**
 * A semaphore for messages in flight. Each endpoint can always acquire its fair share, which is an equal part of all
 * permits, and at least one permit, unless its origin has reached the limit per origin. An endpoint therefore waits
 * only for endpoints of the same origin.
 */
export class FairWebhookEndpointSemaphore {
  readonly #limits: FairSemaphoreLimits;
  readonly #activeByOrigin = new Map<string, number>();
  #activePermits = 0;
  /** Number of endpoints that hold a permit. */
  #holderCount = 0;

  constructor(limits: FairSemaphoreLimits) {
    this.#limits = limits;
  }

  get activePermits(): number {
    return this.#activePermits;
  }

  /** Acquires up to `requested` permits for an endpoint with `held` permits. Returns the number of acquired permits. */
  acquire(origin: string, { held, requested }: { held: number; requested: number }): number {
    const { maxPermits, maxPermitsPerOrigin } = this.#limits;
    const isNewHolder = held === 0;
    const fairShare = Math.max(1, Math.floor(maxPermits / (this.#holderCount + (isNewHolder ? 1 : 0))));
    const freePermits = Math.max(maxPermits - this.#activePermits, fairShare - held);
    const activeAtOrigin = this.#activeByOrigin.get(origin) ?? 0;
    const unreserved = Math.floor(maxPermitsPerOrigin * (1 - reservedOriginShare)) - activeAtOrigin;
    const freeAtOrigin = isNewHolder && activeAtOrigin < maxPermitsPerOrigin ? Math.max(1, unreserved) : unreserved;
    const acquired = Math.max(0, Math.min(requested, freePermits, freeAtOrigin));
    if (isNewHolder && acquired > 0) this.#holderCount += 1;
    this.#addPermits(origin, acquired);
    return acquired;
  }

  /** Releases permits of an endpoint. `held` is the number of permits that the endpoint holds after the release. */
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
