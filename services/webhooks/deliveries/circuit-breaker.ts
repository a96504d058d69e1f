export interface CircuitBreakerOptions {
  failureThreshold: number;
  /** Milliseconds for which the breaker blocks all messages when it opens. Each failed probe doubles this duration. */
  initialOpenMs: number;
  /** Maximum number of milliseconds for which the breaker blocks all messages before the next probe. */
  maxOpenMs: number;
}

/**
 * The circuit breaker of an endpoint. Consecutive failures open the breaker. An open breaker first blocks all messages
 * for some time, and then allows one message as a probe. A success closes the breaker. All times are in milliseconds.
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
    // Failures of messages that were in flight when the breaker opened must not extend the open time.
    if (this.#consecutiveFailures < this.#options.failureThreshold || now < this.#openUntil) return;
    this.#openUntil = now + Math.min(this.#options.maxOpenMs, this.#options.initialOpenMs * 2 ** this.#openCount);
    this.#openCount += 1;
  }

  /** Returns the maximum number of messages in flight: infinity if closed, 1 if a probe is due, otherwise 0. */
  maxConcurrentAt(now: number): number {
    if (this.isClosed) return Number.POSITIVE_INFINITY;
    return now < this.#openUntil ? 0 : 1;
  }

  /** Returns the milliseconds until a probe may be sent; 0 if one may be sent now or the breaker is closed. */
  remainingOpenMs(now: number): number {
    return Math.max(0, this.#openUntil - now);
  }

  get isClosed(): boolean {
    return this.#openCount === 0;
  }

  /**
   * Returns whether the breaker can be discarded, because no attempt has failed since the last success, or because no
   * attempt has failed within twice the maximum open time.
   */
  isExpired(now: number): boolean {
    return this.#consecutiveFailures === 0 || now > this.#lastFailureAt + 2 * this.#options.maxOpenMs;
  }
}
