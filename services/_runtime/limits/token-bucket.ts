import type { RateLimit } from "@pragma/contracts/api-consumer";

/** A rate limit: `perSecond` on average, and up to `burst` at once after a pause. */
export type TokenBucketRate = RateLimit;

/** A token bucket in the memory of this process. Times are in milliseconds. */
export class TokenBucket {
  /** A new rate applies as soon as it is set; the remaining tokens are kept, up to the new burst. */
  rate: TokenBucketRate;
  #tokens: number;
  #updatedAt: number;

  constructor(rate: TokenBucketRate, now: number) {
    this.rate = rate;
    this.#tokens = rate.burst;
    this.#updatedAt = now;
  }

  /** Returns the available tokens, including fractions. */
  getAvailable(now: number): number {
    const elapsed = Math.max(0, now - this.#updatedAt) / 1000;
    return Math.min(this.rate.burst, this.#tokens + elapsed * this.rate.perSecond);
  }

  /** Takes `count` tokens; returns false and takes none when fewer are available. */
  take(now: number, count = 1): boolean {
    const available = this.getAvailable(now);
    if (available < count) return false;
    this.setAvailable(available - count, now);
    return true;
  }

  refund(now: number, count = 1): void {
    this.setAvailable(Math.min(this.rate.burst, this.getAvailable(now) + count), now);
  }

  /** Replaces the available tokens, for example by those that a counter shared by all processes reports. */
  setAvailable(tokens: number, now: number): void {
    this.#tokens = tokens;
    this.#updatedAt = now;
  }

  /** Returns the milliseconds until a token is available; 0 when one is. */
  getWaitMs(now: number): number {
    return Math.max(0, ((1 - this.getAvailable(now)) / this.rate.perSecond) * 1000);
  }
}
