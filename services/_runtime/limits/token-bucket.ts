import type { RateLimit } from "@pragma/contracts/api-consumer";

/** How much is allowed: so much a second over time, and so much at once after a quiet time. */
export type TokenBucketRate = RateLimit;

/** Counts what is left of a rate in this process alone. Times are in milliseconds. */
export class TokenBucket {
  /** Another one counts from when it is set; what is left stays, as far as it fits. */
  rate: TokenBucketRate;
  #tokens: number;
  #at: number;

  constructor(rate: TokenBucketRate, now: number) {
    this.rate = rate;
    this.#tokens = rate.burst;
    this.#at = now;
  }

  /** What is left, with fractions. */
  getAvailable(now: number): number {
    const elapsed = Math.max(0, now - this.#at) / 1000;
    return Math.min(this.rate.burst, this.#tokens + elapsed * this.rate.perSecond);
  }

  /** Takes one, or as many as are given, unless there are fewer. */
  take(now: number, count = 1): boolean {
    const left = this.getAvailable(now);
    if (left < count) return false;
    this.setAvailable(left - count, now);
    return true;
  }

  refund(now: number, count = 1): void {
    this.setAvailable(Math.min(this.rate.burst, this.getAvailable(now) + count), now);
  }

  /** What another, who counts for everybody, says is left. */
  setAvailable(tokens: number, now: number): void {
    this.#tokens = tokens;
    this.#at = now;
  }

  /** Milliseconds until there is one to take; 0 when there is. */
  getWaitMs(now: number): number {
    return Math.max(0, ((1 - this.getAvailable(now)) / this.rate.perSecond) * 1000);
  }
}
