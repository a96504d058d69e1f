import type { JobPayload, JobResult } from "@pragma/contracts/job";
import { sleep } from "@pragma/runtime/sleep";

/** What doing a job is. `report` is told how far it is, in percent; the signal is given when it has to be given back. */
export type Perform = (
  payload: JobPayload,
  { report, signal }: { report: (percent: number) => void; signal: AbortSignal },
) => Promise<JobResult>;

/** Told of at most so often while a job lasts. */
const steps = 20;
/** And not more often than this, in milliseconds. */
const shortestStep = 100;

/** Waits for as long as the job says, and reports how far that is. */
export const waitOut: Perform = async ({ message, duration }, { report, signal }) => {
  const started = performance.now();
  const waited = () => performance.now() - started;
  const step = Math.max(duration / steps, shortestStep);
  while (waited() < duration && !signal.aborted) {
    await sleep(Math.min(step, duration - waited()), signal);
    report(Math.min(100, Math.floor((waited() / duration) * 100)));
  }
  signal.throwIfAborted();
  return { message, waited: Math.round(waited()) };
};
