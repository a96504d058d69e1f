/** Counts what is held, such as bytes of memory, in all and by whom. */
export class KeyedCounter {
  total = 0;
  readonly #byKey = new Map<string, number>();

  get(key: string): number {
    return this.#byKey.get(key) ?? 0;
  }

  /** Negative for what is given back. */
  add(count: number, key: string): void {
    this.total += count;
    const ofKey = this.get(key) + count;
    if (ofKey === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, ofKey);
  }
}
