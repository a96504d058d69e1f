/** Work that goes on beside other work, or alone. */
export interface SharedLock {
  shared<T>(work: () => Promise<T>): Promise<T>;
  /** Waits until all other work has ended; none begins until this has ended. */
  exclusive<T>(work: () => Promise<T>): Promise<T>;
}

/** Creates a lock that is granted in the order in which it is asked for. */
export function createSharedLock(): SharedLock {
  const unfinished = new Set<Promise<void>>();
  let lastAlone: Promise<unknown> = Promise.resolve();

  function runAfter<T>(others: Promise<unknown>, work: () => Promise<T>): { result: Promise<T>; ended: Promise<void> } {
    const result = others.then(work);
    const ended: Promise<void> = result.then(forget, forget);
    function forget(): void {
      unfinished.delete(ended);
    }
    unfinished.add(ended);
    return { result, ended };
  }

  return {
    shared: (work) => runAfter(lastAlone, work).result,
    exclusive(work) {
      const { result, ended } = runAfter(Promise.all(unfinished), work);
      lastAlone = ended;
      return result;
    },
  };
}
