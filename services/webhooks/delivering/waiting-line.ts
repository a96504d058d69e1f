/** Asks for a place again; says whether it took one. */
export type Waiter = () => boolean;

/** Those who wait for a place: first come, first served, but for those who have none at all, who come before. */
export class WaitingLine {
  readonly #without = new Set<Waiter>();
  readonly #others = new Set<Waiter>();

  /** Puts somebody at the end, unless it waits already. */
  add(waiter: Waiter, { hasNone }: { hasNone: boolean }): void {
    (hasNone ? this.#without : this.#others).add(waiter);
  }

  remove(waiter: Waiter): void {
    this.#without.delete(waiter);
    this.#others.delete(waiter);
  }

  get isEmpty(): boolean {
    return this.#without.size + this.#others.size === 0;
  }

  /** Calls one after the other until one takes what is free: those that need it no more are passed over. */
  callNext(): void {
    for (let waiting = this.#without.size + this.#others.size; waiting > 0; waiting -= 1) {
      const line = this.#without.size > 0 ? this.#without : this.#others;
      const [waiter] = line;
      if (!waiter) return;
      line.delete(waiter);
      if (waiter()) return;
    }
  }
}
