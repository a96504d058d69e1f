import { addMoneyAmounts } from "@pragma/contracts/money";

type Group<Item> = [Item, ...Item[]];

/** Returns items with the same key together, in the sequence in which keys first occur. Null and "null" are different. */
export function groupByKey<Item>(
  items: Iterable<Item>,
  getKey: (item: Item) => readonly (string | number | boolean | null)[],
): Group<Item>[] {
  const groups = new Map<string, Group<Item>>();
  for (const item of items) {
    const key = JSON.stringify(getKey(item));
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return [...groups.values()];
}

/** @throws `AmountOutOfRangeError` */
export function sum(amounts: readonly number[]): number {
  return amounts.reduce(addMoneyAmounts, 0);
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
