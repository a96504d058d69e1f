import { sleep } from "../concurrency/sleep.ts";
import type { OutageLog } from "../observability/outage-log.ts";
import { computeRetryDelayMs } from "./transient-error.ts";

/** Repeats `work` until the signal is aborted. Waits longer after each consecutive failure, up to 2 seconds. */
export async function repeatWithBackoffUntilAborted(
  signal: AbortSignal,
  outageLog: OutageLog,
  work: () => Promise<void>,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    try {
      await work();
      failures = 0;
      outageLog.recordRecovery();
    } catch (error) {
      if (signal.aborted) return;
      outageLog.recordFailure(error);
      await sleep(computeRetryDelayMs(++failures, { maxMs: 2_000 }), signal);
    }
  }
}
