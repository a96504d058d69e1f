/** Lets so many run at a time; the others wait their turn. */
export interface Semaphore {
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createSemaphore(places: number): Semaphore {
  let free = places;
  const waiting: (() => void)[] = [];
  return {
    async run(work) {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else free++;
      }
    },
  };
}

/** Lets so many of each key run at a time. */
export interface KeyedSemaphore {
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export function createKeyedSemaphore(places: number): KeyedSemaphore {
  const byKey = new Map<string, { semaphore: Semaphore; users: number }>();
  return {
    async run(key, work) {
      const entry = byKey.get(key) ?? { semaphore: createSemaphore(places), users: 0 };
      byKey.set(key, entry);
      entry.users++;
      try {
        return await entry.semaphore.run(work);
      } finally {
        entry.users--;
        if (entry.users === 0) byKey.delete(key);
      }
    },
  };
}

/** One use of a keyed semaphore that begins and ends in different places. */
export interface Permit {
  /** Resolves when it is this use's turn. */
  acquire(): Promise<void>;
  /** Lets the next one begin; nothing when it was not acquired. */
  release(): void;
}

export function createPermit(semaphore: KeyedSemaphore, key: string): Permit {
  let release = () => {};
  return {
    acquire: () =>
      new Promise((acquired) => {
        const held = () =>
          new Promise<void>((done) => {
            release = done;
            acquired();
          });
        void semaphore.run(key, held);
      }),
    release: () => release(),
  };
}
