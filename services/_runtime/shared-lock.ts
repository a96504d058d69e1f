/** Work that goes on beside other work, or alone. */
export interface SharedLock {
  shared<T>(work: () => Promise<T>): Promise<T>;
  /** Waits until all other work has ended; none begins until this has ended. */
  exclusive<T>(work: () => Promise<T>): Promise<T>;
}

/** Creates a lock that is granted in the order in which it is asked for. */
export function createSharedLock(): SharedLock {
  const waiting: { isExclusive: boolean; begin: () => void }[] = [];
  let holders = 0;
  let isExclusive = false;

  function grant(): void {
    for (let next = waiting[0]; next; next = waiting[0]) {
      if (isExclusive || (next.isExclusive && holders > 0)) return;
      waiting.shift();
      holders++;
      isExclusive = next.isExclusive;
      next.begin();
    }
  }

  async function run<T>(wantsExclusive: boolean, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((begin) => {
      waiting.push({ isExclusive: wantsExclusive, begin });
      grant();
    });
    try {
      return await work();
    } finally {
      holders--;
      isExclusive = false;
      grant();
    }
  }

  return { shared: (work) => run(false, work), exclusive: (work) => run(true, work) };
}
