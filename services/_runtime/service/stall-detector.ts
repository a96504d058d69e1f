import type { Logger } from "../observability/logger.ts";

/** Something that should make progress, such as a consumer of events. */
export interface MonitoredWork {
  name: string;
  /** Returns since when work makes no progress, on the clock of `performance.now()`; undefined if it does. */
  findNoProgressSince(): Promise<number | undefined>;
}

interface StallDetectorOptions {
  work: readonly MonitoredWork[];
  timeoutMs: number;
  /** Names the servers that do not respond. If there are any, the time starts again from zero. */
  findUnavailableDependencies(): Promise<string[]>;
  onStalled(description: string): void;
  log: Logger;
}

/** Detects work that makes no progress although every server responds. Only a restart of the process helps. */
export function startStallDetector(options: StallDetectorOptions) {
  const { work, timeoutMs, findUnavailableDependencies, onStalled, log } = options;
  // Each check sends requests to all servers, so it is repeated only as often as the timeout needs.
  const intervalMs = timeoutMs / 20;
  /** Time before this moment does not count, because a server was unavailable, or the whole process did not run. */
  let excusedUntilMs = 0;
  let lastStepMs = performance.now();
  let slowest: { name: string; forMs: number } | undefined;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function findSlowest(): Promise<typeof slowest> {
    const states = await Promise.all(
      work.map(async ({ name, findNoProgressSince }) => {
        const sinceMs = (await findNoProgressSince()) ?? Number.POSITIVE_INFINITY;
        return { name, forMs: performance.now() - Math.max(sinceMs, excusedUntilMs) };
      }),
    );
    return states.sort((one, other) => other.forMs - one.forMs)[0];
  }

  /** Returns whether the process was stopped since the last step, for example by `docker pause`. Then that time is excused. */
  function wasPaused(): boolean {
    const now = performance.now();
    const isLate = now - lastStepMs > intervalMs + timeoutMs / 4;
    lastStepMs = now;
    if (isLate) excusedUntilMs = now;
    return isLate;
  }

  async function check(): Promise<void> {
    wasPaused();
    slowest = await findSlowest();
    if (slowest === undefined || slowest.forMs < timeoutMs / 2) return;
    const unavailable = await findUnavailableDependencies();
    if (wasPaused() || unavailable.length > 0) {
      excusedUntilMs = performance.now();
      slowest = undefined;
      return;
    }
    if (slowest.forMs < timeoutMs || isStopped) return;
    isStopped = true;
    onStalled(describe(slowest));
  }

  async function checkRepeatedly(): Promise<void> {
    await check().catch((error) => log.error({ err: error }, "the check for stalled work failed"));
    if (!isStopped) timer = setTimeout(checkRepeatedly, intervalMs);
  }

  timer = setTimeout(checkRepeatedly, intervalMs);
  return {
    /** Rejects while something has made no progress for half of the time after which the process ends. */
    async check(): Promise<void> {
      if (slowest && slowest.forMs >= timeoutMs / 2) throw new Error(describe(slowest));
    },
    stop(): void {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

const describe = ({ name, forMs }: { name: string; forMs: number }) =>
  `${name} has made no progress for ${Math.round(forMs / 1000)} s, although all servers respond`;

/** Returns work that counts as stalled while a check, such as a query on a connection, does not succeed. */
export function monitorCheck(name: string, check: () => Promise<unknown>): MonitoredWork {
  let lastSuccessMs = performance.now();
  /** A check that never ends is not started again. */
  let running: Promise<void> | undefined;
  const recordSuccess = () => {
    lastSuccessMs = performance.now();
  };
  return {
    name,
    async findNoProgressSince() {
      running ??= check()
        .then(recordSuccess, () => {})
        .finally(() => (running = undefined));
      return lastSuccessMs;
    },
  };
}
