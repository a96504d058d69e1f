import type { Logger } from "@pragma/runtime/logger";
import { isPassing } from "@pragma/runtime/passing-cause";
import type { Database } from "@pragma/runtime/postgres";
import { sleep } from "@pragma/runtime/sleep";
import { ErrorCode } from "bullmq";
import type { QueuedJob } from "../queues/location-queues.ts";
import type { Perform } from "./wait-out.ts";

/** What doing jobs stands on. */
export interface Running {
  db: Database;
  log: Logger;
  perform: Perform;
}

/** A job whose turn it is. The signal is given when it has to be given back. */
export interface Turn {
  job: QueuedJob;
  token: string;
  signal: AbortSignal;
}

/** Lets the queue know how far a job is. What it has lost it need not know. */
export function tell(job: QueuedJob, percent: number): void {
  job.updateProgress(percent).catch(() => {});
  job.log(`${new Date().toISOString()} ${percent} %`).catch(() => {});
}

/** What a queue answers when it does not know a job, or not that this process is doing it. */
const lost = new Set<unknown>([
  ErrorCode.JobNotExist,
  ErrorCode.JobLockNotExist,
  ErrorCode.JobNotInState,
  ErrorCode.JobLockMismatch,
]);

/** What a queue answers about a job; undefined when it has lost it, which the sweep mends. */
export async function unlessLost<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Error && "code" in error && lost.has(error.code)) return undefined;
    throw error;
  }
}

/** Tries until the database is there, or the signal is given. */
export async function persistently<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || signal.aborted) throw error;
      await sleep(500, signal);
    }
  }
}
