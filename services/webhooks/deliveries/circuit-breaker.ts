export interface CircuitBreakerOptions {
  /** Consecutive failures after which the breaker opens. */
  failureThreshold: number;
  /** How long the breaker stays open the first time. The time doubles with every failed probe. */
  initialOpenMs: number;
  /** The longest time that the breaker stays open. */
  maxOpenMs: number;
}

/**
 * The circuit breaker of an endpoint. Consecutive failures open it: nothing is sent for a while, then one message as a
 * probe. A success closes it. All times are in milliseconds.
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
    // Failures of messages that were in flight when the breaker opened must not extend the wait.
    if (this.#consecutiveFailures < this.#options.failureThreshold || now < this.#openUntil) return;
    this.#openUntil = now + Math.min(this.#options.maxOpenMs, this.#options.initialOpenMs * 2 ** this.#openCount);
    this.#openCount += 1;
  }

  /** Returns how many messages may be in flight: infinity, 1 for a probe, or 0. */
  maxConcurrentAt(now: number): number {
    if (this.isClosed) return Number.POSITIVE_INFINITY;
    return now < this.#openUntil ? 0 : 1;
  }

  /** Returns the milliseconds until a probe may be sent. */
  remainingOpenMs(now: number): number {
    return Math.max(0, this.#openUntil - now);
  }

  get isClosed(): boolean {
    return this.#openCount === 0;
  }

  /** Returns true when the breaker has no state worth keeping: no failure, or none for twice the longest open time. */
  isExpired(now: number): boolean {
    return this.#consecutiveFailures === 0 || now > this.#lastFailureAt + 2 * this.#options.maxOpenMs;
  }
}
