/** Aggregates by key, in the order in which their keys first appeared. Keys compare exactly: null is not "null". */
export class Groups<Aggregate> {
  readonly #byKey = new Map<string, Aggregate>();

  /** The aggregate of a key, started when the key appears for the first time. */
  of(key: readonly (string | number | boolean | null)[], start: () => Aggregate): Aggregate {
    const text = JSON.stringify(key);
    const known = this.#byKey.get(text);
    if (known !== undefined) return known;
    const started = start();
    this.#byKey.set(text, started);
    return started;
  }

  all(): Aggregate[] {
    return [...this.#byKey.values()];
  }
}

/**
 * The aggregates as reports list them: those whose quantity is below 1 and whose amounts are all 0 are left out; any
 * other quantity below 1, which refunds make, becomes 1.
 */
export function listed<Aggregate extends { quantity: number }>(
  aggregates: Aggregate[],
  amountsOf: (aggregate: Aggregate) => number[],
): Aggregate[] {
  return aggregates
    .filter((aggregate) => aggregate.quantity >= 1 || amountsOf(aggregate).some((amount) => amount !== 0))
    .map((aggregate) => ({ ...aggregate, quantity: atLeastOne(aggregate.quantity) }));
}

export function atLeastOne(quantity: number): number {
  return Math.max(1, quantity);
}
