/** A token bucket: so many a second, spread evenly, and a burst of as many or more after a quiet time. Times are in milliseconds. */
export class Pace {
  readonly #perSecond: number;
  readonly #burst: number;
  #left: number;
  #at = 0;

  constructor(perSecond: number, burst = perSecond) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#left = burst;
  }

  /** Takes as many as there are, up to what is wanted. */
  take(wanted: number, now: number): number {
    this.#refill(now);
    const taken = Math.min(wanted, Math.floor(this.#left));
    this.#left -= taken;
    return taken;
  }

  giveBack(unused: number): void {
    this.#left = Math.min(this.#burst, this.#left + unused);
  }

  /** Milliseconds until there is one to take. */
  wait(now: number): number {
    this.#refill(now);
    return Math.max(0, ((1 - this.#left) / this.#perSecond) * 1_000);
  }

  isFull(now: number): boolean {
    this.#refill(now);
    return this.#left === this.#burst;
  }

  #refill(now: number): void {
    const elapsed = Math.max(0, now - this.#at) / 1_000;
    this.#left = Math.min(this.#burst, this.#left + elapsed * this.#perSecond);
    this.#at = now;
  }
}
