/** Maps keys to aggregates and keeps the sequence in which keys were added. The keys null and "null" differ. */
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
 * Returns the aggregates as reports list them. An aggregate is omitted if its quantity is below 1 and all its amounts
 * are 0. In the remaining aggregates, a quantity below 1 becomes 1. Refunds can cause such quantities.
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
