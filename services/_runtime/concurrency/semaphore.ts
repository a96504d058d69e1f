export type KeyedSemaphore = ReturnType<typeof createKeyedSemaphore>;

/** Lets so many uses of each key run at a time; the others wait their turn. */
export function createKeyedSemaphore(maxActive: number) {
  const byKey = new Map<string, { active: number; waiting: (() => void)[] }>();

  /** Resolves when it is this use's turn, with what lets the next one begin: to be called once. */
  async function acquire(key = ""): Promise<() => void> {
    const uses = byKey.get(key) ?? { active: 0, waiting: [] };
    byKey.set(key, uses);
    if (uses.active < maxActive) uses.active += 1;
    else await new Promise<void>((resolve) => uses.waiting.push(resolve));
    return () => {
      const next = uses.waiting.shift();
      if (next) return next();
      uses.active -= 1;
      if (uses.active === 0) byKey.delete(key);
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
