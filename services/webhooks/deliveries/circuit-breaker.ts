export interface CircuitBreakerOptions {
  /** Failures in a row after which it opens. */
  failureThreshold: number;
  /** How long it stays open the first time, and at most: twice as long each time that the probe fails. */
  initialOpenMs: number;
  maxOpenMs: number;
}

/**
 * A circuit breaker that keeps messages from an endpoint that only fails: after some failures in a row nothing is sent
 * for a while, then one message as a probe. Once one arrives, all is as before. Times are in milliseconds.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #consecutiveFailures = 0;
  #openCount = 0;
  #openUntil = 0;
  #lastFailureAt = 0;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  recordSuccess(): void {
    this.#consecutiveFailures = 0;
    this.#openCount = 0;
    this.#openUntil = 0;
  }

  recordFailure(now: number): void {
    this.#consecutiveFailures += 1;
    this.#lastFailureAt = now;
    // Those that were under way when it opened say nothing new.
    if (this.#consecutiveFailures < this.#options.failureThreshold || now < this.#openUntil) return;
    this.#openUntil = now + Math.min(this.#options.maxOpenMs, this.#options.initialOpenMs * 2 ** this.#openCount);
    this.#openCount += 1;
  }

  /** How many messages may be under way: any number, one as a probe, or none. */
  maxConcurrentAt(now: number): number {
    if (this.isClosed) return Number.POSITIVE_INFINITY;
    return now < this.#openUntil ? 0 : 1;
  }

  /** Milliseconds until a probe may be sent. */
  remainingOpenMs(now: number): number {
    return Math.max(0, this.#openUntil - now);
  }

  get isClosed(): boolean {
    return this.#openCount === 0;
  }

  /** Whether there is nothing to remember: no failure, or none for so long that whoever failed may be gone. */
  isExpired(now: number): boolean {
    return this.#consecutiveFailures === 0 || now > this.#lastFailureAt + 2 * this.#options.maxOpenMs;
  }
}
