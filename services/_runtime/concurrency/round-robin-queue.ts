interface KeyState {
  active: number;
  /** The start functions of the tasks that wait, in the sequence in which they were added. */
  waiting: (() => void)[];
}

/**
 * Creates a queue that runs up to `maxActive` tasks, and up to `maxActivePerKey` tasks of the same key. Keys take turns:
 * after a task of a key has started, the tasks of all other keys that wait are considered first.
 */
export function createRoundRobinQueue({ maxActive, maxActivePerKey }: { maxActive: number; maxActivePerKey: number }) {
  const keys = new Map<string, KeyState>();
  /** The keys with a task that may start as soon as fewer than `maxActive` are active, in the sequence of turns. */
  const turns = new Set<string>();
  let active = 0;
  let waitingCount = 0;

  function scheduleTurn(key: string, state: KeyState): void {
    if (state.waiting.length > 0 && state.active < maxActivePerKey) turns.add(key);
  }

  function startTasks(): void {
    for (const key of turns) {
      if (active >= maxActive) return;
      turns.delete(key);
      const state = keys.get(key);
      const start = state?.waiting.shift();
      if (!state || !start) continue;
      active += 1;
      state.active += 1;
      waitingCount -= 1;
      scheduleTurn(key, state);
      start();
    }
  }

  function release(key: string, state: KeyState): void {
    active -= 1;
    state.active -= 1;
    if (state.active === 0 && state.waiting.length === 0) keys.delete(key);
    scheduleTurn(key, state);
    startTasks();
  }

  return {
    /** Runs a task when it is the turn of its key. */
    async run<T>(task: () => Promise<T>, key: string): Promise<T> {
      const state = keys.get(key) ?? { active: 0, waiting: [] };
      keys.set(key, state);
      await new Promise<void>((resolve) => {
        state.waiting.push(resolve);
        waitingCount += 1;
        scheduleTurn(key, state);
        startTasks();
      });
      try {
        return await task();
      } finally {
        release(key, state);
      }
    },
    /**
     * Returns how many waiting tasks could start if no other key had tasks, and how many also wait for earlier tasks of
     * their own key.
     */
    countWaiting(): { ready: number; behindOwnKey: number } {
      let ready = 0;
      for (const key of turns) {
        const state = keys.get(key);
        if (state) ready += Math.min(state.waiting.length, maxActivePerKey - state.active);
      }
      return { ready, behindOwnKey: waitingCount - ready };
    },
  };
}
