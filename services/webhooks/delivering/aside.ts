/** Work that goes on beside what asked for it. */
export interface Aside {
  /** Begins the work, unless as much is under way as may be: then nothing happens. */
  run(work: (signal: AbortSignal) => Promise<void>): void;
  /** Gives the signal, and resolves when nothing is under way. */
  close(): Promise<void>;
}

export function createAside({ atATime, onError }: { atATime: number; onError: (error: unknown) => void }): Aside {
  const closing = new AbortController();
  const underWay = new Set<Promise<void>>();
  return {
    run(work) {
      if (underWay.size >= atATime || closing.signal.aborted) return;
      const done = work(closing.signal)
        .catch(onError)
        .finally(() => underWay.delete(done));
      underWay.add(done);
    },
    async close() {
      closing.abort();
      await Promise.all(underWay);
    },
  };
}
