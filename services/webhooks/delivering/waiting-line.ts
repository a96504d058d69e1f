/** Asks for a place again; says whether it took one. */
export type Waiter = () => boolean;

/** So many are called at most until one takes what is free: those that need it no more are passed over. */
const mostCalled = 8;

/** Those who wait for a place: first come, first served, but for those who have none at all, who come before. */
export class WaitingLine {
  readonly #without = new Set<Waiter>();
  readonly #others = new Set<Waiter>();

  add(waiter: Waiter, { hasNone }: { hasNone: boolean }): void {
    (hasNone ? this.#without : this.#others).add(waiter);
  }

  get isEmpty(): boolean {
    return this.#without.size + this.#others.size === 0;
  }

  callNext(): void {
    for (let called = 0; called < mostCalled; called += 1) {
      const line = this.#without.size > 0 ? this.#without : this.#others;
      const [waiter] = line;
      if (!waiter) return;
      line.delete(waiter);
      if (waiter()) return;
    }
  }
}
