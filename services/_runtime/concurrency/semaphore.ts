export type KeyedSemaphore = ReturnType<typeof createKeyedSemaphore>;

/** Creates a semaphore with `maxActive` permits for each key. Further callers wait in a queue. */
export function createKeyedSemaphore(maxActive: number) {
  const byKey = new Map<string, { active: number; waiting: (() => void)[] }>();

  /** Waits for a permit. Returns a function that releases the permit. Call it exactly once. */
  async function acquire(key = ""): Promise<() => void> {
    const entry = byKey.get(key) ?? { active: 0, waiting: [] };
    byKey.set(key, entry);
    if (entry.active < maxActive) entry.active += 1;
    else await new Promise<void>((resolve) => entry.waiting.push(resolve));
    return () => {
      const next = entry.waiting.shift();
      if (next) return next();
      entry.active -= 1;
      if (entry.active === 0) byKey.delete(key);
    };
  }

  return {
    acquire,
    async run<T>(work: () => Promise<T>, key?: string): Promise<T> {
      const release = await acquire(key);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}
