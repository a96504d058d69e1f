/** A permit to run, or a place in the queue until it is granted. */
export interface QueuePermit {
  readonly isGranted: boolean;
  /** Resolves when the permit is granted. Never settles if the permit is released before. */
  readonly granted: Promise<void>;
  /**
   * Returns the permit, or leaves the queue. Later calls have no effect. The next task of the key starts at least `pauseMs`
   * milliseconds later, which does not delay other keys.
   */
  release(pauseMs?: number): void;
}

interface KeyState {
  active: number;
  /** The start functions of the tasks that wait, in the sequence in which they were added. */
  waiting: (() => void)[];
}

/**
 * Creates a queue that runs up to `maxActive` tasks, and up to `maxActivePerKey` tasks of the same key. Keys take turns:
 * after a task of a key has started, the tasks of all other keys that wait are considered first.
 */
export function createRoundRobinQueue({
  maxActive,
  maxActivePerKey,
}: {
  maxActive: number;
  /** A function can return another number at any time. A higher number applies when the next task of a key ends. */
  maxActivePerKey: number | (() => number);
}) {
  const getMaxActivePerKey = typeof maxActivePerKey === "number" ? () => maxActivePerKey : maxActivePerKey;
  const keys = new Map<string, KeyState>();
  /** The keys with a task that may start as soon as fewer than `maxActive` are active, in the sequence of turns. */
  const turns = new Set<string>();
  let active = 0;
  let waitingCount = 0;

  function scheduleTurn(key: string, state: KeyState): void {
    if (state.waiting.length > 0 && state.active < getMaxActivePerKey()) turns.add(key);
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

  function release(key: string, state: KeyState, pauseMs: number): void {
    active -= 1;
    if (pauseMs > 0) setTimeout(() => releaseKey(key, state), pauseMs);
    else releaseKey(key, state);
    startTasks();
  }

  function releaseKey(key: string, state: KeyState): void {
    state.active -= 1;
    if (state.active === 0 && state.waiting.length === 0) keys.delete(key);
    scheduleTurn(key, state);
    startTasks();
  }

  function removeWaiting(key: string, state: KeyState, start: () => void): void {
    state.waiting.splice(state.waiting.indexOf(start), 1);
    waitingCount -= 1;
    if (state.waiting.length > 0) return;
    turns.delete(key);
    if (state.active === 0) keys.delete(key);
  }

  /** Requests a permit, which is granted when it is the turn of its key: at once if there is capacity. */
  function requestPermit(key: string): QueuePermit {
    const state = keys.get(key) ?? { active: 0, waiting: [] };
    keys.set(key, state);
    let isGranted = false;
    let isReleased = false;
    let start = () => {};
    const granted = new Promise<void>((resolve) => {
      start = () => {
        isGranted = true;
        resolve();
      };
    });
    state.waiting.push(start);
    waitingCount += 1;
    scheduleTurn(key, state);
    startTasks();
    return {
      get isGranted() {
        return isGranted;
      },
      granted,
      release(pauseMs = 0) {
        if (isReleased) return;
        isReleased = true;
        if (isGranted) release(key, state, pauseMs);
        else removeWaiting(key, state, start);
      },
    };
  }

  return {
    requestPermit,
    /** Runs a task when it is the turn of its key. */
    async run<T>(task: () => Promise<T>, key: string): Promise<T> {
      const permit = requestPermit(key);
      try {
        await permit.granted;
        return await task();
      } finally {
        permit.release();
      }
    },
    /** Returns the number of waiting tasks, of one key or of all keys. */
    getWaitingCount(key?: string): number {
      return key === undefined ? waitingCount : (keys.get(key)?.waiting.length ?? 0);
    },
    /**
     * Returns how many waiting tasks could start if no other key had tasks, and how many also wait for earlier tasks of
     * their own key.
     */
    countWaiting(): { ready: number; behindOwnKey: number } {
      let ready = 0;
      const maxActivePerKeyNow = getMaxActivePerKey();
      for (const key of turns) {
        const state = keys.get(key);
        if (state) ready += Math.min(state.waiting.length, Math.max(0, maxActivePerKeyNow - state.active));
      }
      return { ready, behindOwnKey: waitingCount - ready };
    },
  };
}
