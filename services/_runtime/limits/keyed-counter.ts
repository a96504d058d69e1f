/** Counts the amount of a resource in use, such as bytes of memory, in total and per key. */
export class KeyedUsageCounter {
  total = 0;
  readonly #byKey = new Map<string, number>();

  get(key: string): number {
    return this.#byKey.get(key) ?? 0;
  }

  /** Adds `count` to the amount that a key uses. A negative `count` releases an amount. */
  add(count: number, key: string): void {
    this.total += count;
    const keyCount = this.get(key) + count;
    if (keyCount === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, keyCount);
  }
}
