/** Creates a lock for concurrent shared work and for exclusive work. Callers get the lock in the sequence of calls. */
export function createReadWriteLock() {
  const running = new Set<Promise<void>>();
  let lastExclusive: Promise<unknown> = Promise.resolve();

  function runAfter<T>(others: Promise<unknown>, work: () => Promise<T>): { result: Promise<T>; ended: Promise<void> } {
    const result = others.then(work);
    const markEnded = () => void running.delete(ended);
    const ended: Promise<void> = result.then(markEnded, markEnded);
    running.add(ended);
    return { result, ended };
  }

  return {
    shared: <T>(work: () => Promise<T>) => runAfter(lastExclusive, work).result,
    /** Runs `work` alone. Waits until all earlier work has ended, and makes later work wait until `work` has ended. */
    exclusive<T>(work: () => Promise<T>): Promise<T> {
      const { result, ended } = runAfter(Promise.all(running), work);
      lastExclusive = ended;
      return result;
    },
  };
}
