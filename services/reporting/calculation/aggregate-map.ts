/** Aggregates by key, in the order in which the keys first appeared. Keys compare exactly: null differs from "null". */
export class AggregateMap<Aggregate> {
  readonly #byKey = new Map<string, Aggregate>();

  /** Returns the aggregate of a key, created when the key first appears. */
  getOrCreate(key: readonly (string | number | boolean | null)[], create: () => Aggregate): Aggregate {
    const text = JSON.stringify(key);
    const existing = this.#byKey.get(text);
    if (existing !== undefined) return existing;
    const created = create();
    this.#byKey.set(text, created);
    return created;
  }

  values(): Aggregate[] {
    return [...this.#byKey.values()];
  }
}

/**
 * Returns aggregates as reports list them. Aggregates with a quantity below 1 and only amounts of 0 are omitted. Any
 * other quantity below 1, which results from refunds, becomes 1.
 */
export function toReportedAggregates<Aggregate extends { quantity: number }>(
  aggregates: Aggregate[],
  getAmounts: (aggregate: Aggregate) => number[],
): Aggregate[] {
  return aggregates
    .filter((aggregate) => aggregate.quantity >= 1 || getAmounts(aggregate).some((amount) => amount !== 0))
    .map((aggregate) => ({ ...aggregate, quantity: raiseQuantityToMinOne(aggregate.quantity) }));
}

export function raiseQuantityToMinOne(quantity: number): number {
  return Math.max(1, quantity);
}
