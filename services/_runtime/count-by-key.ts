/** Counts the bytes that are held in memory, in all and by whom. */
export class HeldBytes {
  total = 0;
  readonly #byHolder = new Map<string, number>();

  of(holder: string): number {
    return this.#byHolder.get(holder) ?? 0;
  }

  /** Negative for what is given back. */
  add(bytes: number, holder: string): void {
    this.total += bytes;
    const ofHolder = this.of(holder) + bytes;
    if (ofHolder === 0) this.#byHolder.delete(holder);
    else this.#byHolder.set(holder, ofHolder);
  }
}
