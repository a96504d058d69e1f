/** Maps keys to aggregates, sorted by the time at which keys were added. The keys null and "null" are different. */
export class AggregateMap<Aggregate> {
  readonly #byKey = new Map<string, Aggregate>();

  /** Returns the aggregate of a key, and creates the aggregate if the key is new. */
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
 * Returns the aggregates that a report shows. An aggregate is omitted if its quantity is below 1 and all its amounts
 * are 0. In the remaining aggregates, a quantity below 1, which refunds can cause, becomes 1.
 */
export function cleanAggregates<Aggregate extends { quantity: number }>(
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
