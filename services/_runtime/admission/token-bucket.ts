import type { RateLimit } from "@pragma/contracts/api-consumer";

/** A rate limit: `perSecond` tokens per second on average, and up to `burst` tokens at once after a pause. */
export type TokenBucketRate = RateLimit;

/** A token bucket in the memory of this process. All times are in milliseconds. */
export class TokenBucket {
  /** The current rate. A new rate applies immediately; the available tokens are reduced to the new burst if needed. */
  rate: TokenBucketRate;
  #tokens: number;
  #updatedAt: number;

  constructor(rate: TokenBucketRate, now: number) {
    this.rate = rate;
    this.#tokens = rate.burst;
    this.#updatedAt = now;
  }

  /** Returns the number of available tokens, which can be a fraction. */
  getAvailable(now: number): number {
    const elapsed = Math.max(0, now - this.#updatedAt) / 1000;
    return Math.min(this.rate.burst, this.#tokens + elapsed * this.rate.perSecond);
  }

  /** Removes `count` tokens and returns true. If fewer tokens are available, removes none and returns false. */
  take(now: number, count = 1): boolean {
    const available = this.getAvailable(now);
    if (available < count) return false;
    this.setAvailable(available - count, now);
    return true;
  }

  refund(now: number, count = 1): void {
    this.setAvailable(Math.min(this.rate.burst, this.getAvailable(now) + count), now);
  }

  /** Sets the number of available tokens, for example to the value of a counter that all processes share. */
  setAvailable(tokens: number, now: number): void {
    this.#tokens = tokens;
    this.#updatedAt = now;
  }

  getWaitMs(now: number): number {
    return Math.max(0, ((1 - this.getAvailable(now)) / this.rate.perSecond) * 1000);
  }
}
