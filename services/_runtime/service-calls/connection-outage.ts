/** Requests wait for a service that is being replaced, but not for one that stays unreachable. */
export class ConnectionOutage {
  readonly #maxWaitMs: number;
  #startedAt = 0;
  #failedAt: number | undefined;

  constructor(maxWaitMs: number) {
    this.#maxWaitMs = maxWaitMs;
  }

  /** Returns until when requests wait for a connection, as of `performance.now()`. */
  recordFailureAndGetDeadline(): number {
    const now = performance.now();
    // A failure long before says nothing about now, because nothing was sent in between.
    if (this.#failedAt === undefined || now - this.#failedAt > this.#maxWaitMs) this.#startedAt = now;
    this.#failedAt = now;
    return this.#startedAt + this.#maxWaitMs;
  }

  recordConnection(): void {
    this.#failedAt = undefined;
  }
}
