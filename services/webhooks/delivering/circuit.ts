export interface CircuitLimits {
  /** Failures in a row after which it opens. */
  failures: number;
  /** How long it stays open the first time, and at most: twice as long each time that the probe fails. */
  firstMs: number;
  maxMs: number;
}

/**
 * A circuit breaker that keeps messages from an endpoint that only fails: after some failures in a row nothing is sent
 * for a while, then one message as a probe. Once one arrives, all is as before. Times are in milliseconds.
 */
export class Circuit {
  readonly #limits: CircuitLimits;
  #failures = 0;
  #openings = 0;
  #openUntil = 0;
  #failedAt = 0;

  constructor(limits: CircuitLimits) {
    this.#limits = limits;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openings = 0;
    this.#openUntil = 0;
  }

  failed(now: number): void {
    this.#failures += 1;
    this.#failedAt = now;
    // Those that were under way when it opened say nothing new.
    if (this.#failures < this.#limits.failures || now < this.#openUntil) return;
    this.#openUntil = now + Math.min(this.#limits.maxMs, this.#limits.firstMs * 2 ** this.#openings);
    this.#openings += 1;
  }

  /** How many messages may be under way: any number, one as a probe, or none. */
  allows(now: number): number {
    if (this.isClosed) return Number.POSITIVE_INFINITY;
    return now < this.#openUntil ? 0 : 1;
  }

  /** Milliseconds until a probe may be sent. */
  wait(now: number): number {
    return Math.max(0, this.#openUntil - now);
  }

  get isClosed(): boolean {
    return this.#openings === 0;
  }

  /** Whether there is nothing to remember: no failure, or none for so long that whoever failed may be gone. */
  isForgettable(now: number): boolean {
    return this.#failures === 0 || now > this.#failedAt + 2 * this.#limits.maxMs;
  }
}
