/** So many a second, spread evenly, and as many at once after a quiet second. Times are in milliseconds. */
export class Pace {
  readonly #perSecond: number;
  #left: number;
  #at = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
    this.#left = perSecond;
  }

  /** Takes as many as there are, up to what is wanted. */
  take(wanted: number, now: number): number {
    this.#refill(now);
    const taken = Math.min(wanted, Math.floor(this.#left));
    this.#left -= taken;
    return taken;
  }

  giveBack(unused: number): void {
    this.#left = Math.min(this.#perSecond, this.#left + unused);
  }

  /** Milliseconds until there is one to take. */
  wait(now: number): number {
    this.#refill(now);
    return Math.max(0, ((1 - this.#left) / this.#perSecond) * 1_000);
  }

  #refill(now: number): void {
    const elapsed = Math.max(0, now - this.#at) / 1_000;
    this.#left = Math.min(this.#perSecond, this.#left + elapsed * this.#perSecond);
    this.#at = now;
  }
}
