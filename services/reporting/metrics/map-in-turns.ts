import { setImmediate } from "node:timers/promises";

/** The number of items that are processed before other requests get their turn. Takes about a millisecond. */
const itemsPerTurn = 200;

/**
 * Returns what `convert` returns for each item. Lets other requests be handled in between, in short turns, because Node.js
 * accepts only one new connection in each turn of its event loop.
 *
 * @throws the reason of `signal` if it is aborted.
 */
export async function mapInTurns<Item, Result>(
  items: Iterable<Item>,
  convert: (item: Item) => Result,
  signal: AbortSignal,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    if (results.length % itemsPerTurn === itemsPerTurn - 1) {
      await setImmediate();
      signal.throwIfAborted();
    }
    results.push(convert(item));
  }
  await setImmediate();
  signal.throwIfAborted();
  return results;
}
