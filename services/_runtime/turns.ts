/** Lets each location have one piece of work done at a time, so that one with many pieces holds up no other. */
export interface Turns {
  run<T>(locationId: string, work: () => Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return {
    async run(locationId, work) {
      const before = last.get(locationId);
      const mine = before ? before.then(work, work) : work();
      last.set(locationId, mine);
      try {
        return await mine;
      } finally {
        if (last.get(locationId) === mine) last.delete(locationId);
      }
    },
  };
}
